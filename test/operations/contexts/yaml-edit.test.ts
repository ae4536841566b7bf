import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { setValue, type YamlStep } from '../../../operations/contexts/yaml-edit.ts'

const context: readonly YamlStep[] = ['contexts', { name: 'kind' }, 'context']

describe('one value of a YAML text', () => {
  test.each<readonly [what: string, before: string, after: string]>([
    [
      'is replaced, and comments stay',
      '# mine\ncurrent-context: old # why\ncontexts: []\n',
      '# mine\ncurrent-context: "new" # why\ncontexts: []\n',
    ],
    ['is replaced within its quotes', "current-context: 'old'\n", 'current-context: "new"\n'],
    [
      'is replaced where it is an empty text',
      'current-context: ""\nkind: Config\n',
      'current-context: "new"\nkind: Config\n',
    ],
    ['is written where there was none', 'current-context:\nkind: Config\n', 'current-context: "new"\nkind: Config\n'],
    ['is added before the first key', '# mine\nkind: Config\n', '# mine\ncurrent-context: "new"\nkind: Config\n'],
    ['is added to JSON, which stays JSON', '{"kind": "Config"}', '{"current-context": "new", "kind": "Config"}'],
    ['is added to an empty map', '{}\n', '{current-context: "new"}\n'],
    ['keeps the ends of lines', 'kind: Config\r\ncurrent-context: a\r\n', 'kind: Config\r\ncurrent-context: "new"\r\n'],
  ])('%s', async (_, before, after) => {
    expect(await setValue(before, [], 'current-context', 'new')).toBe(after)
  })

  test.each([
    [
      'contexts:\n- context:\n    cluster: c\n    namespace: old\n  name: kind\n',
      'contexts:\n- context:\n    cluster: c\n    namespace: "n"\n  name: kind\n',
    ],
    [
      'contexts:\n  - name: other\n    context: {cluster: c}\n  - name: "kind"\n    context:\n      cluster: c\n',
      'contexts:\n  - name: other\n    context: {cluster: c}\n  - name: "kind"\n    context:\n      namespace: "n"\n      cluster: c\n',
    ],
    [
      'contexts:\n- name: kind\n  context: {cluster: c, user: u}\n',
      'contexts:\n- name: kind\n  context: {namespace: "n", cluster: c, user: u}\n',
    ],
    [
      '{"contexts":[{"name":"kind","context":{"cluster":"c"}}]}',
      '{"contexts":[{"name":"kind","context":{"namespace": "n", "cluster":"c"}}]}',
    ],
  ])('in a list is that of the item with its name: %j', async (before, after) => {
    expect(await setValue(before, context, 'namespace', 'n')).toBe(after)
  })

  test('keeps its type, whatever it looks like', async () => {
    for (const name of ['true', '012', 'a: b', '"', '#', ' ', 'arn:aws:eks:eu-west-1:1:cluster/dev', '\\n']) {
      const text = await setValue('current-context: a\nkind: Config\n', [], 'current-context', name)
      expect(load(text!)).toEqual({ 'current-context': name, kind: 'Config' })
    }
  })

  test.each([
    ['contexts: []\n', 'there is no such item'],
    ['contexts:\n- name: kind\n', 'it has no map'],
    ['x: &a {cluster: c}\ncontexts:\n- name: kind\n  context: *a\n', 'the map is an alias'],
    ['contexts:\n- name: kind\n  context:\n    namespace: |\n      a\n      b\n', 'the value is a block'],
    ['', 'the text is empty'],
  ])('is left alone in %j: %s', async text => {
    expect(await setValue(text, context, 'namespace', 'n')).toBe(undefined)
  })
})
