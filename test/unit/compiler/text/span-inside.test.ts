import { expect, test } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../../compiler/text/parse.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { spanInside } from '../../../../compiler/text/span-inside.ts'
import { get, type ScalarTree, scalarTree } from '../../../../compiler/text/tree.ts'

/** The scalar under `key` of a YAML text. */
function scalarOf(yaml: string): ScalarTree {
  const documents = parseYaml(new SourceFile('compose.yaml', `key: ${yaml}\n`), new Reporter())
  const found = get(documents?.[0]?.tree, 'key')
  if (found?.kind !== 'scalar') throw new Error('no scalar')
  return found
}

const textAt = (scalar: ScalarTree, start: number, end: number) => {
  const span = spanInside(scalar, start, end)
  return span.file.text.slice(span.start, span.end)
}

test.each([
  ['8080:80', 5, 7, '80'],
  ['"8080:80"', 5, 7, '80'],
  ["'8080:80'", 0, 4, '8080'],
  [String.raw`"a\tbcd"`, 2, 4, 'bc'],
  ["'it''s'", 3, 4, 's'],
  ['8080', 1, 3, '08'],
])('the text of %s from %i to %i is %s', (yaml, start, end, text) => {
  expect(textAt(scalarOf(yaml), start, end)).toBe(text)
})

test('an empty range, or one beyond the end, gives the whole span', () => {
  const scalar = scalarOf('abc')
  expect([textAt(scalar, 1, 1), textAt(scalar, 1, 9)]).toEqual(['abc', 'abc'])
})

test('a generated value has the span of its text, or of the value it replaces', () => {
  const { span } = scalarOf('abc=def')
  expect(textAt(scalarTree(span, 'abc=def'), 4, 7)).toBe('def')
  expect(textAt(scalarTree(span, 'other'), 1, 2)).toBe('abc=def')
})

test('a part that comes from a variable has the span of the variable', () => {
  const { span } = scalarOf('${HOST}:5432')
  const { file, start } = span
  const scalar: ScalarTree = {
    ...scalarTree(span, 'db:5432'),
    pieces: [
      { at: 0, length: 2, span: { file, start, end: start + 7 }, verbatim: false },
      { at: 2, length: 5, span: { file, start: start + 7, end: start + 12 }, verbatim: true },
    ],
  }
  expect(textAt(scalar, 3, 7)).toBe('5432')
  expect(textAt(scalar, 0, 1)).toBe('${HOST}')
  expect(textAt(scalar, 1, 4)).toBe('${HOST}:5')
})
