import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TextDocument, type TextEdit } from 'vscode-languageserver-textdocument'
import { completionsAt } from '../../../../editor/answers/completion.ts'
import { definitionAt } from '../../../../editor/answers/definition.ts'
import { hoverAt } from '../../../../editor/answers/hover.ts'
import type { AskedDocument } from '../../../../editor/answers/question.ts'
import { symbolsOf } from '../../../../editor/answers/symbols.ts'
import { outlineOf } from '../../../../editor/text/outline.ts'
import { goldenCases } from '../../../support/cases.ts'

const texts = goldenCases()
  .map(({ directory }) => join(directory, 'compose.yaml'))
  .filter(path => existsSync(path))
  .map(path => readFileSync(path, 'utf8'))

/** Asks every question about an offset of a text. */
function askAll(text: string, offset: number): void {
  const document = TextDocument.create('file:///compose.yaml', 'yaml', 1, text)
  const asked: AskedDocument = { path: '/compose.yaml', kind: 'compose', document, outline: outlineOf(text) }
  hoverAt(asked, offset)
  definitionAt(asked, offset, () => undefined)
  const { line, character } = document.positionAt(offset)
  for (const { textEdit } of completionsAt(asked, offset)) {
    const { start, end } = (textEdit as TextEdit).range
    expect([start.line, end.line]).toEqual([line, line])
    expect(start.character <= character && character <= end.character).toBe(true)
  }
  symbolsOf(asked)
}

test('every question is answered at every offset of a text', () => {
  const text = texts.find(one => one.length > 400 && one.includes('{'))!
  for (let offset = 0; offset <= text.length; offset++) askAll(text, offset)
})

test('every question is answered for texts that are cut and changed', () => {
  const changes = fc.record({
    text: fc.constantFrom(...texts),
    from: fc.nat(2000),
    length: fc.nat(20),
    insert: fc.constantFrom(
      '',
      '{',
      '[',
      '"',
      "'",
      '|\n',
      '- ',
      ': ',
      '&a ',
      '*a',
      '\t',
      '#',
      '${',
      '\n  ',
      '? ',
      '<<: ',
    ),
    offset: fc.nat(2000),
  })
  fc.assert(
    fc.property(changes, ({ text, from, length, insert, offset }) => {
      const changed = text.slice(0, from) + insert + text.slice(from + length)
      askAll(changed, Math.min(offset, changed.length))
    }),
    { numRuns: 500 },
  )
})
