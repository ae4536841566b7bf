import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { printDocument, printStream, printYaml } from '../../../constructs/yaml.ts'

const versions = ['1.1', '1.2'] as const

/** Words that some reader of YAML takes for no text, or that would end or break plain text. */
// biome-ignore format: a table
const treacherous = [
  '', ' ', 'a ', ' a', 'a\t', '\ta', '-', '- a', '-a', '--', '---', '--- a', '...', '?', '? a', '?a', ':', ': a', ':a', 'a:', 'a: b', 'a :b',
  'a #b', 'a#b', '#a', '&a', '*a', '!a', '!!str a', '|', '>', "'", '"', "'a'", '"a"', '%a', '@a', '`a`', '[', '[]', '{}', '{a', ',',
  'y', 'Y', 'n', 'N', 'yes', 'Yes', 'NO', 'on', 'Off', 'true', 'True', 'FALSE', 'null', 'Null', 'NULL', '~', '=', '<<', 'nil', 'none',
  '0', '-0', '1', '+1', '-1', '012', '0o14', '0x1F', '0b11', '-0b1', '1_000', '0x_1', '_1', '1e3', '1E-3', '1.', '.5', '-.5', '+.5e1', '1.5',
  '.inf', '-.Inf', '+.INF', '.nan', '.NaN', 'inf', 'NaN', '1:30', '190:20:30', '1:30.5', '8080:80', '10.0.0.1', '1.2.3', '.', '..', '1e', '1e3_0',
  '2024-01-02', '2024-1-2 3:04:05', '2024-01-02T03:04:05Z', '2024-01-02x', '123abc', '4f1c9aa', '1e1000', 'E0', 'e12345678', '0xg', '08', '09',
  '0_', '1__2', '\n', '\n\n', 'a\n', 'a\nb', 'a\nb\n', 'a\n\n', '\na', '\n a', ' a\nb', '\ta\nb', 'a\n b\n', 'a\n\tb\n', 'a \nb', 'a\n ', 'a\n  \n',
  ' \na\n', 'a\r\nb', 'a\rb', 'a\u0085b', 'a\u2028b\nc', '\uFEFFa', 'a\uFEFF\nb', '\u0000', 'a\u007f', 'a\u001b[0m\nb', '\uFFFE', '🙂', 'Grüße',
  'a\n---\nb', '# a\nb', '- a\n- b\n', 'a: b\nc: d\n', '%a\nb', '"\\n"', 'C:\\temp', "require('x').y({a: 1}) # no", 'a\n\n\n\nb\n\n\n',
]

const text = fc.oneof(
  fc.constantFrom(...treacherous),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(...' \n\t-:#?|>"\'\\abc01.{}[],&*!%@`~=<\u0085\u2028é'), maxLength: 12 }),
  fc.array(fc.constantFrom(...treacherous), { maxLength: 4 }).map(words => words.join('\n')),
)
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter(n => !Object.is(n, -0)),
)
const json = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      text.filter(key => key !== '__proto__'),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value

describe('printed values', () => {
  test.each(versions)('the yaml package reads printed values unchanged, as YAML %s', version => {
    const read = (value: unknown) => parse(printYaml(value), { version, maxAliasCount: 0 })
    for (const word of treacherous) {
      expect(read(word)).toBe(word)
      expect(read({ [word]: [word, [word]], after: word })).toEqual({ [word]: [word, [word]], after: word })
    }
    fc.assert(
      fc.property(json, value => {
        expect(read(value)).toEqual(value)
      }),
      { numRuns: 2000 },
    )
  })

  const kubectl = spawnSync('kubectl', ['version', '--client'])
  test.skipIf(kubectl.error || kubectl.status !== 0)('kubectl reads printed values unchanged', () => {
    const words = [...treacherous, ...fc.sample(text, { numRuns: 1000, seed: 1 })].filter(word => !/\p{Cs}/u.test(word))
    const values = fc.sample(json, { numRuns: 300, seed: 2 })
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'words', labels: { a: 'b' } },
      data: Object.fromEntries(words.map((word, index) => [`k${index}`, word])),
      keys: Object.fromEntries(words.filter(word => word !== '__proto__').map(word => [word, word])),
      values: values.filter(value => !/\\ud[89a-f]/.test(JSON.stringify(value))),
    }
    const command = ['label', '--local', '-f', '-', '-o', 'json', 'a=b', '--overwrite']
    const { stdout, stderr } = spawnSync('kubectl', command, {
      input: printYaml(object),
      encoding: 'utf8',
      maxBuffer: 1e8,
    })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual(object)
  })
})

describe('style', () => {
  test('maps and lists are indented by two spaces, and empty ones are in line', () => {
    const value = {
      a: { b: [{ c: 1, d: ['x', ['z1', 'z2']] }, {}, []] },
      e: {},
      f: undefined,
      g: null,
      h: true,
      i: [undefined],
    }
    expect(printYaml(value)).toBe(`\
a:
  b:
    - c: 1
      d:
        - x
        - - z1
          - z2
    - {}
    - []
e: {}
g: null
h: true
i:
  - null
`)
  })

  test('text of several lines is a literal block, which is never folded', () => {
    const value = { a: 'one\n\n  two\n', b: ['one\ntwo', 'one\n\n\n', ' one\ntwo\n'], c: `${'long '.repeat(60)}line` }
    expect(printYaml(value)).toBe(`\
a: |
  one

    two
b:
  - |-
    one
    two
  - |+
    one


  - |2
     one
    two
c: ${'long '.repeat(60)}line
`)
  })

  test.each([
    ['--save', '--save'],
    ['-h', '-h'],
    ['hello, $USER', 'hello, $USER'],
    ['http://127.0.0.1:3000/ || exit 1', 'http://127.0.0.1:3000/ || exit 1'],
    ['postgres:16-alpine', 'postgres:16-alpine'],
    ['128Mi', '128Mi'],
    ['1.27-alpine', '1.27-alpine'],
    ['', '""'],
    ['no', '"no"'],
    ['8080:80', '"8080:80"'],
    ['10.0.0.1', '"10.0.0.1"'],
    ['2024-01-02', '"2024-01-02"'],
    ['say "hi": now', '"say \\"hi\\": now"'],
    ['bell\u0007', '"bell\\u0007"'],
    ['del\u007f', '"del\\u007f"'],
  ])('%s is printed as %s', (value, printed) => {
    expect(printYaml({ a: value })).toBe(`a: ${printed}\n`)
  })

  test('values that JSON cannot represent throw an error', () => {
    expect(() => printYaml({ a: Number.NaN })).toThrow()
    expect(() => printYaml({ a: () => 1 })).toThrow()
  })
})

test('a document begins with its source, and documents are joined by three dashes', () => {
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }
  const manifest = { source: 'strange\nname.yaml#services.a', folder: 'a', object }
  const document = '# strange?name.yaml#services.a\napiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n'
  expect(printDocument(manifest)).toBe(document)
  expect(printStream([manifest, manifest])).toBe(`${document}---\n${document}`)
  expect(printStream([])).toBe('')
})
