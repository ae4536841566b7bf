import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../../../../compiler/diagnostics/diagnostic.ts'
import { excerpt } from '../../../../../compiler/diagnostics/render/excerpt.ts'
import { failureSummary } from '../../../../../compiler/diagnostics/render/summary.ts'
import { renderDiagnostic, renderDiagnostics } from '../../../../../compiler/diagnostics/render/text.ts'
import { SourceFile, type Span } from '../../../../../compiler/text/source.ts'
import { displayWidth, printable } from '../../../../../compiler/values/printable.ts'
import { measureProcessor } from '../../../../support/processor-time.ts'

/** The span of the nth place where a piece of text stands in a file. */
function spanOf(file: SourceFile, piece: string, nth = 0): Span {
  let start = -1
  for (let i = 0; i <= nth; i++) start = file.text.indexOf(piece, start + 1)
  return { file, start, end: start + piece.length }
}

const problem = (span: Span | undefined, more: Partial<Diagnostic> = {}): Diagnostic => ({
  code: 'family/what-is-wrong',
  severity: 'error',
  message: 'something is `wrong`',
  ...(span && { span }),
  ...more,
})

describe('the text of a diagnostic', () => {
  test('the text has code, message, place, line, carets, related places, notes and help', () => {
    const file = new SourceFile(
      'compose.yml',
      'services:\n  db:\n    image: postgres\n    labels:\n      dev.platform/update: recreate\n',
    )
    const text = renderDiagnostic({
      code: 'update-policy/not-allowed',
      severity: 'error',
      message: 'update policy `recreate` is not allowed on a stateful set',
      span: spanOf(file, 'recreate'),
      related: [{ span: spanOf(file, 'db'), message: '`db` is a stateful set because it mounts the volume `data`' }],
      notes: ['first line\nsecond line'],
      hint: 'use `rolling` or `on-delete`',
    })
    expect(text).toBe(`error[update-policy/not-allowed]: update policy \`recreate\` is not allowed on a stateful set
  --> compose.yml:5:28
   |
 5 |       dev.platform/update: recreate
   |                            ^^^^^^^^
  ::: compose.yml:2:3: \`db\` is a stateful set because it mounts the volume \`data\`
   = note: first line
           second line
   = help: use \`rolling\` or \`on-delete\`
`)
  })

  test('a diagnostic without a place has only its message and help', () => {
    expect(renderDiagnostic(problem(undefined, { hint: 'help' }))).toBe(
      'error[family/what-is-wrong]: something is `wrong`\n   = help: help\n',
    )
  })

  test('the gutter is wider for long line numbers', () => {
    const file = new SourceFile('a.yaml', `${'#\n'.repeat(1233)}key: 1\n`)
    expect(renderDiagnostic(problem(spanOf(file, 'key')))).toContain(
      '\n    --> a.yaml:1234:1\n     |\n1234 | key: 1\n     | ^^^\n',
    )
  })

  test('colors are printed only on request', () => {
    const file = new SourceFile('a.yaml', 'key: 1\n')
    const one = problem(spanOf(file, 'key'))
    expect(renderDiagnostics([one])).not.toContain('\x1b')
    const colour = renderDiagnostics([one], { colour: true })
    expect(colour).toContain('\x1b[1;31merror[family/what-is-wrong]\x1b[0m')
    expect(colour.replace(/\x1b\[[0-9;]*m/g, '')).toBe(renderDiagnostics([one]))
  })

  test('control characters of a file or a message are escaped', () => {
    const file = new SourceFile('a\x1b[2J.yaml', 'a: \x1b[31mred\x00\u202e\n')
    const text = renderDiagnostic(problem(spanOf(file, 'red'), { message: 'name `a\nb\x07`' }))
    expect(text).not.toMatch(/[^\n\P{Cc}]/u)
    expect(text).toContain('name `a\\nb\\u{7}`')
    expect(text).toContain(' 1 | a: \\u{1b}[31mred\\u{0}\\u{202e}')
    expect(text).toContain(`   | ${' '.repeat('a: \\u{1b}[31m'.length)}^^^`)
    expect(text).toContain('--> a\\u{1b}[2J.yaml:1:')
  })
})

describe('excerpt', () => {
  test.each([
    ['a word', 'key: value', 'value', 'key: value', '     ^^^^^'],
    ['behind a tab', '\tkey: value', 'value', '    key: value', '         ^^^^^'],
    ['behind a tab in the middle', 'a\tb: c', 'c', 'a   b: c', '       ^'],
    ['a tab itself', 'a:\tb', '\t', 'a:  b', '  ^^'],
    ['wide characters', '名前: 値', '値', '名前: 値', '      ^^'],
    ['behind an emoji', '🚀: x', 'x', '🚀: x', '    ^'],
    ['behind combining marks', 'e\u0301: x', 'x', 'e\u0301: x', '   ^'],
    ['trailing blanks', 'a: b   ', 'b', 'a: b', '   ^'],
    ['carriage return', 'a: b\r\nc: d', 'b', 'a: b', '   ^'],
  ])('the marks are below the piece: %s', (_name, text, piece, line, marks) => {
    expect(excerpt(spanOf(new SourceFile('a', text), piece))).toEqual({ line: 1, text: line, marks })
  })

  test('an empty span gets one caret, also behind the end of the file', () => {
    const file = new SourceFile('a', 'key:\n')
    expect(excerpt({ file, start: 4, end: 4 })).toEqual({ line: 1, text: 'key:', marks: '    ^' })
    expect(excerpt({ file, start: 5, end: 5 })).toEqual({ line: 2, text: '', marks: '^' })
    expect(excerpt({ file: new SourceFile('a', ''), start: 0, end: 0 })).toEqual({ line: 1, text: '', marks: '^' })
  })

  test('a span of several lines is marked to the end of the first', () => {
    const file = new SourceFile('a', 'key:\n  - one\n  - two\n')
    expect(excerpt({ file, start: 7, end: file.text.length })).toEqual({ line: 2, text: '  - one', marks: '  ^^^^^' })
  })

  test('a long line is cut on both sides around the span', () => {
    const file = new SourceFile('a', `key: ${'x'.repeat(500)}HERE${'y'.repeat(500)}`)
    const { text, marks } = excerpt(spanOf(file, 'HERE'))
    expect(text).toMatch(/^…x{30}HEREy{66}…$/)
    expect(text.slice(marks.indexOf('^'), marks.length)).toBe('HERE')
  })

  test('a long line keeps its beginning if the span is in it', () => {
    const file = new SourceFile('a', `key: ${'x'.repeat(500)}`)
    expect(excerpt(spanOf(file, 'key'))).toEqual({ line: 1, text: `key: ${'x'.repeat(95)}…`, marks: '^^^' })
  })

  test('an excerpt of a line of megabytes is short', () => {
    const file = new SourceFile('a', `${'x'.repeat(20_000_000)}HERE`)
    const { text, marks } = excerpt(spanOf(file, 'HERE'))
    expect(text).toBe(`…${'x'.repeat(30)}HERE`)
    expect(marks).toBe(`${' '.repeat(31)}^^^^`)
  })
})

test.each([
  ['abc', 3],
  ['値', 2],
  ['ｱ', 1],
  ['Ａ', 2],
  ['한글', 4],
  ['é', 1],
  ['🚀', 2],
  ['\u{1f1e9}\u{1f1ea}', 2],
])('the width of %s is %i', (text, width) => expect(displayWidth(text)).toBe(width))

test('a lone surrogate is escaped', () => expect(printable('a\ud800b')).toBe('a\\u{d800}b'))

describe('failureSummary', () => {
  const file = new SourceFile('a.yaml', 'x\n'.repeat(200))
  test('failureSummary counts errors and files, and names a code to explain', () => {
    const other = new SourceFile('b.yaml', 'x')
    const two = [problem({ file, start: 0, end: 1 }), problem({ file: other, start: 0, end: 1 }, { code: 'b/last' })]
    expect(failureSummary(two, 'nothing was rendered')).toBe(
      '2 errors in 2 files; nothing was rendered. `devctl explain b/last` tells more',
    )
    expect(failureSummary(two.slice(0, 1))).toBe('1 error in 1 file. `devctl explain family/what-is-wrong` tells more')
    expect(failureSummary([problem(undefined)], 'nothing was rendered')).toBe(
      '1 error; nothing was rendered. `devctl explain family/what-is-wrong` tells more',
    )
  })
})

test('thousands of positions in one long line are found quickly', () => {
  const file = new SourceFile('a', 'é🚀 '.repeat(200_000))
  const used = measureProcessor()
  const found = Array.from({ length: 20_000 }, (_, i) => file.position(i * 40))
  expect(found[1]).toEqual({ line: 1, column: 31 })
  expect(found.at(-1)).toEqual({ line: 1, column: 19_999 * 30 + 1 })
  expect(file.position(4)).toEqual({ line: 1, column: 4 })
  expect(used()).toBeLessThan(1500)
})
