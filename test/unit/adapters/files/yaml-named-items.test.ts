import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { putNamedItems } from '../../../../adapters/files/yaml-named-items.ts'

const put = async (text: string, name = 'a', more = {}) =>
  putNamedItems(text, [{ list: 'users', item: { name, user: { token: 'b' } } }], { kind: 'Config', ...more })

describe('putNamedItems', () => {
  test.each(['', '# nothing yet\n', 'users:\n', 'users: []\n', 'users: null\n', '{}\n'])(
    'putNamedItems adds an item to %j',
    async before => {
      const edited = await put(before)
      expect(edited).toMatchObject({ ok: true })
      expect(parse((edited as { text: string }).text)).toEqual({
        kind: 'Config',
        users: [{ name: 'a', user: { token: 'b' } }],
      })
    },
  )

  test('putNamedItems replaces items of the same name, and keeps the rest with its comments', async () => {
    const before =
      'kind: Config\nusers:\n  # old\n  - name: a\n    user: {x: 1}\n  - name: c # mine\n    user: {yes: no}\nother: "1"\n'
    const edited = await put(before)
    expect(edited).toEqual({
      ok: true,
      text: 'kind: Config\nusers:\n  # old\n  - name: a\n    user:\n      token: b\n  - name: c # mine\n    user: { yes: no }\nother: "1"\n',
    })
  })

  test('putNamedItems keeps strings that look like numbers', async () => {
    const edited = await put('', '127_0_0_1_80', { current: '10' })
    const { text } = edited as { text: string }
    expect(text).toContain('name: "127_0_0_1_80"')
    expect(text).toContain('current: "10"')
  })

  test.each([
    ['- a\n', 'it must be a mapping'],
    ['users: x\n', '`users` must be a list'],
    ['a: [\n', 'it is not one YAML document'],
    ['a: 1\n---\nb: 2\n', 'it is not one YAML document'],
  ])('putNamedItems refuses %j', async (before, problem) => {
    expect(await put(before)).toEqual({ ok: false, problem: expect.stringContaining(problem) })
  })
})
