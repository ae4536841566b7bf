import { describe, expect, test } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../../compiler/text/parse.ts'
import { SourceFile, type Span } from '../../../../compiler/text/source.ts'
import type { Tree } from '../../../../compiler/text/tree.ts'

function parse(text: string) {
  const reporter = new Reporter()
  const documents = parseYaml(new SourceFile('compose.yaml', text), reporter)
  return { documents, diagnostics: reporter.diagnostics() }
}

/** The only document of a text, as plain values. */
function read(text: string): unknown {
  const { documents, diagnostics } = parse(text)
  expect(diagnostics).toEqual([])
  expect(documents).toHaveLength(1)
  return plain(documents![0]!.tree)
}

function plain(tree: Tree | undefined): unknown {
  switch (tree?.kind) {
    case 'map':
      return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, plain(value)]))
    case 'seq':
      return tree.items.map(plain)
    default:
      return tree?.value
  }
}

const written = ({ file, start, end }: Span) => file.text.slice(start, end)

describe('syntax errors', () => {
  test.each([
    ['a key without a colon', 'web\n  image: x', 'web', '1:1', 'a colon is missing behind `web`'],
    ['a colon without a blank', 'image:nginx\nports: []', ':', '1:6', 'a space is missing after this colon'],
    [
      'a key that is indented too much',
      'a: x\n  b: y',
      'b',
      '2:3',
      'the indentation does not match the lines around it',
    ],
    [
      'a key that is indented too little',
      'w:\n    a: x\n  b: y',
      'b: y',
      '3:3',
      'the indentation does not match the lines around it',
    ],
    ['a key after items', 'w:\n  - a\n  b: c', 'b: c', '3:3', 'the indentation does not match the lines around it'],
    ['a tab', 'w:\n\ta: x', '\t', '2:1', 'a tab cannot be used for indentation'],
    ['a tab after a dash', 'w:\n- \ta', '\t', '2:3', 'a tab cannot be used for indentation'],
    ['an open quote', 'a: "x\nb: y\n', '"', '1:4', 'the closing quote is missing'],
    ['an open single quote', "a: 'it''s\nb: y\n", "'", '1:4', 'the closing quote is missing'],
    ['an open bracket', 'a: x\nb: ["y", {z: 1}', '[', '2:4', 'the closing `]` is missing'],
    ['an open brace', 'a: {b: [1], c: "}"', '{', '1:4', 'the closing `}` is missing'],
    ['an open bracket before a key', 'a: [x\nb: y', 'b', '2:1', 'a comma or a closing bracket is missing before this'],
    ['two commas', 'a: [x,, y]', ',', '1:7', 'a value is missing before this comma'],
    ['text behind a quote', 'a: "x" y', 'y', '1:8', 'unexpected text after the closing quote'],
    ['a mapping on the line of its key', 'a: b: c', ':', '1:5', 'a value cannot have a mapping on the same line'],
    ['a list on the line of its key', 'a: - b', '-', '1:4', 'a list cannot begin on this line'],
    ['text that begins with @', 'a: @b', '@', '1:4', 'text cannot begin with this character'],
    ['an unknown escape', 'a: "\\q"', '\\q', '1:5', 'this is no escape sequence of YAML'],
    ['an escape of a later version', 'a: "\\/"', '\\/', '1:5', '`\\/` is not a valid escape sequence'],
    ['an alias without a name', 'a: *', '*', '1:4', 'invalid alias'],
    ['a tag that nobody declared', 'a: !b!c d', '!b!c', '1:4', 'invalid tag'],
    ['text on the line of a block', 'a: |x\n  b', 'x', '1:5', 'unexpected content'],
    ['a control character', 'a: \u0001', '\u0001', '1:4', 'the control character U+0001 is not allowed in YAML'],
    ['a second document without a marker', 'a: 1\n...\nb: 2', 'b', '3:1', 'unexpected content'],
  ])('parseYaml describes the error at its position: %s', (_, text, marked, place, message) => {
    const { documents, diagnostics } = parse(text)
    expect(documents).toBeUndefined()
    expect(diagnostics.map(found => found.message)).toEqual([message])
    const { file, start } = diagnostics[0]!.span!
    const { line, column } = file.position(start)
    expect(`${line}:${column}`).toBe(place)
    expect(text.startsWith(marked, start)).toBe(true)
  })

  test('nesting deeper than 500 levels is an error', () => {
    expect(parse(`${'['.repeat(501)}${']'.repeat(501)}`).diagnostics.map(({ code }) => code)).toEqual(['yaml/too-deep'])
    expect(parse(`${'['.repeat(499)}${']'.repeat(499)}`).diagnostics).toEqual([])
  })
})

describe('input that Docker Compose accepts and YAML does not allow', () => {
  test.each([
    ['a closing bracket below its key', 'w:\n  a: [\n    x\n  ]\n  b: y\n', { w: { a: ['x'], b: 'y' } }],
    [
      'items at the start of the line',
      'w:\n  a: [\nx, # one\n"y z"\n]\n  b: {\nc: d}\n',
      { w: { a: ['x', 'y z'], b: { c: 'd' } } },
    ],
    [
      'a quoted text at the start of the line',
      'w:\n  a: "x  \n\n y\\\n  z"\n  b: \'x\ny\'\n',
      { w: { a: 'x\nyz', b: 'x y' } },
    ],
    ['a comment right behind a quote', 'a: "x"#c\nb: [y]#d\n', { a: 'x', b: ['y'] }],
  ])('parseYaml accepts %s', (_, text, value) => {
    expect(read(text)).toEqual(value)
  })

  test('spans of input that YAML does not allow are those of the file', () => {
    const { documents } = parse('w:\n  a: [\n]\n  b: "x\ny"\n  c: {d: e}\n')
    const w = documents![0]!.tree
    if (w?.kind !== 'map') throw new Error('no mapping')
    const inner = w.entries.get('w')!.value
    if (inner.kind !== 'map') throw new Error('no mapping')
    expect([...inner.entries].map(([, { key, value }]) => [written(key), written(value.span)])).toEqual([
      ['a', '[\n]'],
      ['b', '"x\ny"'],
      ['c', '{d: e}'],
    ])
  })
})

test('spans cover the values as they are written', () => {
  const text = 'a: "x"\nb: |- # c\n  t\n  u\nc: !!str\nd:\n  - \n  - [1, {e: f} ]\n  - &g  h\n  - *g\n'
  const { documents } = parse(text)
  const places: string[] = []
  const walk = (tree: Tree): void => {
    if (tree.kind !== 'map') places.push(written(tree.span))
    if (tree.kind === 'seq') tree.items.forEach(walk)
    if (tree.kind === 'map') for (const { value } of tree.entries.values()) walk(value)
  }
  walk(documents![0]!.tree!)
  expect(places).toEqual([
    '"x"',
    '|- # c\n  t\n  u\n',
    'c',
    '- \n  - [1, {e: f} ]\n  - &g  h\n  - *g',
    '-',
    '[1, {e: f} ]',
    '1',
    'f',
    'h',
    'h',
  ])
})

test('a block at the end of a file ends with a line break only if the file does', () => {
  expect(read('a: |\n  b')).toEqual({ a: 'b' })
  expect(read('a: |\n  b\n')).toEqual({ a: 'b\n' })
  expect(read('a: >\n  b\n  c')).toEqual({ a: 'b c' })
})

test('tags before a key do not apply to its value', () => {
  expect(read('!reset a: 1\n!override b: {c: d}\n')).toEqual({ a: 1, b: { c: 'd' } })
})
