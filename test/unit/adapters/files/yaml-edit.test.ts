import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { editYaml, type YamlEdit } from '../../../../adapters/files/yaml-edit.ts'
import type { YamlStep } from '../../../../adapters/files/yaml-path.ts'

const context: readonly YamlStep[] = ['contexts', { name: 'kind' }, 'context', 'namespace']

async function edited(text: string, edit: YamlEdit): Promise<string> {
  const result = await editYaml(text, edit)
  return result.ok ? result.text : result.problem
}

describe('a value of a YAML text', () => {
  test.each<readonly [what: string, before: string, after: string]>([
    [
      'is replaced, and comments stay',
      '# mine\ncurrent-context: old # why\ncontexts: []\n',
      '# mine\ncurrent-context: new # why\ncontexts: []\n',
    ],
    ['is replaced within its quotes', "current-context: 'old'\n", "current-context: 'new'\n"],
    [
      'is replaced where it is an empty text',
      'current-context: ""\nkind: Config\n',
      'current-context: "new"\nkind: Config\n',
    ],
    ['is written where there was none', 'current-context:\nkind: Config\n', 'current-context: new\nkind: Config\n'],
    [
      'is written before a comment',
      'current-context: # none\nkind: Config\n',
      'current-context: new # none\nkind: Config\n',
    ],
    [
      'is added after the last key',
      '# mine\nkind: Config # why\n\n# end\n',
      '# mine\nkind: Config # why\ncurrent-context: new\n\n# end\n',
    ],
    ['is added to a text without a last line end', 'kind: Config', 'kind: Config\ncurrent-context: new'],
    ['is added to JSON, which stays JSON', '{"kind": "Config"}', '{"kind": "Config", "current-context": "new"}'],
    ['is added to an empty map', '{}\n', '{current-context: new}\n'],
    ['is the first of an empty text', '', 'current-context: new\n'],
    ['is the first below comments', '# mine\n', '# mine\n\ncurrent-context: new\n'],
    ['keeps the ends of lines', 'kind: Config\r\ncurrent-context: a\r\n', 'kind: Config\r\ncurrent-context: new\r\n'],
    ['is found by a key in quotes', '"current-context": a\n', '"current-context": new\n'],
    [
      'replaces a block of text',
      'current-context: |\n  a\n  b\n# why\nkind: Config\n',
      'current-context: new\n# why\nkind: Config\n',
    ],
    [
      'replaces a block of text, and blank lines and spaces elsewhere stay',
      'a:   b   # c\n\n\ncurrent-context: >-\n  a\n\n\nkind:  Config\n',
      'a:   b   # c\n\n\ncurrent-context: new\n\n\nkind:  Config\n',
    ],
  ])('the value %s', async (_, before, after) => {
    expect(await edited(before, { path: ['current-context'], value: 'new' })).toBe(after)
  })

  test.each([
    [
      'contexts:\n- context:\n    cluster: c\n    namespace: old\n  name: kind\n',
      'contexts:\n- context:\n    cluster: c\n    namespace: shop\n  name: kind\n',
    ],
    [
      'contexts:\n  - name: other\n    context: {cluster: c}\n  - name: "kind"\n    context:\n      cluster: c\n',
      'contexts:\n  - name: other\n    context: {cluster: c}\n  - name: "kind"\n    context:\n      cluster: c\n      namespace: shop\n',
    ],
    [
      'contexts:\n- name: kind\n  context: {cluster: c, user: u}\n',
      'contexts:\n- name: kind\n  context: {cluster: c, user: u, namespace: shop}\n',
    ],
    [
      '{"contexts":[{"name":"kind","context":{"cluster":"c"}}]}',
      '{"contexts":[{"name":"kind","context":{"cluster":"c", "namespace": "shop"}}]}',
    ],
    ['contexts:\n- name: kind\n', 'contexts:\n- name: kind\n  context:\n    namespace: shop\n'],
    ['contexts:\n- name: kind\n  context:\n', 'contexts:\n- name: kind\n  context:\n    namespace: shop\n'],
  ])('a value in a list is set in the item with the given name: %j', async (before, after) => {
    expect(await edited(before, { path: context, value: 'shop' })).toBe(after)
  })

  test('a value stays a string when it looks like another type', async () => {
    for (const name of [
      'true',
      'on',
      '012',
      '1e3',
      '1_0',
      'a: b',
      '"',
      '#',
      ' ',
      'a',
      '~',
      'arn:aws:eks:eu-west-1:1:cluster/dev',
      '\\n',
      'a\nb',
    ])
      for (const before of [
        'current-context: a\n',
        "current-context: 'a'\n",
        'kind: Config\n',
        '{kind: Config}',
        '{"kind": "Config"}',
        'current-context: >\n  a\n',
      ]) {
        const after = await edited(before, { path: ['current-context'], value: name })
        expect(load(after), `${before} → ${after}`).toMatchObject({ 'current-context': name })
      }
  })

  test.each([
    ['contexts: []\n', '`contexts` has no item `kind`'],
    ['contexts: none\n', '`contexts` must be a list'],
    ['contexts:\n- name: kind\n  context: none\n', '`contexts[kind].context` must be a mapping'],
    [
      'x: &a {cluster: c}\ncontexts:\n- name: kind\n  context: *a\n',
      '`contexts[kind].context` is an alias, which stands for another place too',
    ],
    ['- a\n', 'it must be a mapping'],
    ['', '`contexts` is missing'],
    ['kind: Config\n', '`contexts` is missing'],
    ['contexts:\n', '`contexts` must be a list'],
    ['a: b\ncontexts: [hunter2\n', 'it is not valid YAML (line 3)'],
    ['a: b\n---\nc: d\n', 'it has several documents'],
  ])('a value cannot be set in %j: %s', async (text, problem) => {
    expect(await editYaml(text, { path: context, value: 'shop' })).toEqual({ ok: false, problem })
  })
})

describe('an item of a list', () => {
  test.each([
    ['resources:\n- a.yaml # first\n# end\n', 'resources:\n- a.yaml # first\n- "b.yaml"\n# end\n'],
    ['resources:\n  - a.yaml\nimages: []\n', 'resources:\n  - a.yaml\n  - b.yaml\nimages: []\n'],
    ['resources: [a.yaml] # all\n', 'resources: [a.yaml, b.yaml] # all\n'],
    ['resources: []\n', 'resources: [b.yaml]\n'],
    ['resources:\n- "b.yaml"\n- a.yaml\n', 'resources:\n- "b.yaml"\n- a.yaml\n'],
    ['resources: [\n  a.yaml,\n]\n', 'resources: [\n  a.yaml, b.yaml,\n]\n'],
    ['resources: # none yet\nimages: []\n', 'resources: # none yet\n  - b.yaml\nimages: []\n'],
    ['kind: Kustomization\n', 'kind: Kustomization\nresources:\n  - b.yaml\n'],
    ['', 'resources:\n  - b.yaml\n'],
    ['resources: a.yaml\n', '`resources` must be a list'],
    ['resources: {a: b}\n', '`resources` must be a list'],
    ['x: &a [a.yaml]\nresources: *a\n', '`resources` is an alias, which stands for another place too'],
  ])('an item is added to %j, or the reason against it is reported', async (before, after) => {
    expect((await edited(before, { path: ['resources'], item: 'b.yaml' })).replace('"b.yaml"', 'b.yaml')).toBe(
      after.replace('"b.yaml"', 'b.yaml'),
    )
  })
})

describe('a mapping', () => {
  const path = ['environments', 'dev', 'secrets', 'values', 'services.db.environment.PASSWORD']
  test.each([
    [
      'environments:\n  dev:\n    namespace: shop # why\n\n  prod: {}\n',
      'environments:\n  dev:\n    namespace: shop # why\n    secrets:\n      values:\n        services.db.environment.PASSWORD: {secret: db, key: password}\n\n  prod: {}\n',
    ],
    [
      'environments:\n    dev:\n        secrets:\n            values:\n                a: {secret: b, key: c} # d\n',
      'environments:\n    dev:\n        secrets:\n            values:\n                a: {secret: b, key: c} # d\n                services.db.environment.PASSWORD: {secret: db, key: password}\n',
    ],
    [
      'environments: {dev: {namespace: shop}}\n',
      'environments: {dev: {namespace: shop, secrets: {values: {services.db.environment.PASSWORD: {secret: db, key: password}}}}}\n',
    ],
    [
      'environments:\n  dev: &d {}\n  prod: *d\n',
      'environments:\n  dev: &d {secrets: {values: {services.db.environment.PASSWORD: {secret: db, key: password}}}}\n  prod: *d\n',
    ],
    ['environments:\n  base: &d {}\n  dev: *d\n', '`environments.dev` is an alias, which stands for another place too'],
  ])('a mapping is added in one line to %j, or the reason against it is reported', async (before, after) => {
    expect(await edited(before, { path, value: { secret: 'db', key: 'password' } })).toBe(after)
  })
})
