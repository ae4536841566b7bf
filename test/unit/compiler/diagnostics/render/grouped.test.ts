import { expect, test } from 'vitest'
import { type Diagnostic, diagnostic } from '../../../../../compiler/diagnostics/diagnostic.ts'
import { renderGroups } from '../../../../../compiler/diagnostics/render/grouped.ts'
import { SourceFile } from '../../../../../compiler/text/source.ts'

const file = new SourceFile('compose.yaml', 'a: 1\n'.repeat(200))

/** A diagnostic at a line. */
const at = (
  line: number,
  severity: Diagnostic['severity'],
  code: string,
  more: Partial<Diagnostic> = {},
): Diagnostic => ({
  code,
  severity,
  message: `message of ${code}`,
  span: { file, start: (line - 1) * 5, end: (line - 1) * 5 + 1 },
  ...more,
})

const headsOf = (text: string) => text.split('\n').filter(line => /^(?:error|warning|info)\[/.test(line))

test('an entry of warnings shows the first three positions and the total number', () => {
  const message = 'another message'
  const found = [1, 2, 3, 4, 5].map(line =>
    at(line, 'warning', 'a/b', { hint: 'help', ...(line === 3 && { message }) }),
  )
  expect(renderGroups(found)).toBe(
    `warning[a/b]: message of a/b
  --> compose.yaml:1:1
   |
 1 | a: 1
   | ^
  --> compose.yaml:2:1
  --> compose.yaml:3:1: another message
   = note: 5 in all; \`devctl validate --output json\` lists them
   = help: help
`,
  )
})

test('an entry that shows all its positions has only their number as a note', () => {
  const text = renderGroups([at(1, 'warning', 'a/b'), at(2, 'warning', 'a/b')])
  expect(text).toContain('= note: 2 in all\n')
  expect(renderGroups([at(1, 'warning', 'a/b')])).not.toContain('in all')
})

test('an entry shows every error, with the text in which it differs from the first', () => {
  const found = Array.from({ length: 80 }, (_, i) =>
    at(i + 1, 'error', 'a/b', {
      message: `message ${i}`,
      notes: [`note ${i}`],
      hint: i < 79 ? 'help' : 'another help',
    }),
  )
  const text = renderGroups(found)
  expect(headsOf(text)).toEqual(['error[a/b]: message 0'])
  for (const i of found.keys()) expect(text).toContain(`message ${i}\n`)
  for (const i of found.keys()) expect(text).toContain(`= note: note ${i}\n`)
  expect(text.match(/= help: help/g)).toHaveLength(1)
  expect(text).toContain(
    '  --> compose.yaml:80:1: message 79\n   |\n80 | a: 1\n   | ^\n   = note: note 79\n   = help: another help\n',
  )
})

test('errors come first, then warnings about losses, other warnings and infos', () => {
  diagnostic({ code: 'grouped-test/loss', severity: 'warning', loss: true, explain: '', text: () => ({ message: '' }) })
  const found = [
    at(1, 'info', 'a/remark'),
    at(2, 'warning', 'a/warning'),
    at(3, 'warning', 'grouped-test/loss'),
    at(4, 'error', 'a/error'),
    at(5, 'error', 'a/warning'),
  ]
  expect(headsOf(renderGroups(found)).map(line => line.split(':')[0])).toEqual([
    'error[a/error]',
    'error[a/warning]',
    'warning[grouped-test/loss]',
    'warning[a/warning]',
    'info[a/remark]',
  ])
})

test('a further error without a position has its message', () => {
  const none = { code: 'a/b', severity: 'error', message: 'elsewhere' } as const
  expect(renderGroups([none, { ...none, message: 'again' }])).toBe('error[a/b]: elsewhere\n  --> again\n')
  expect(renderGroups([none, at(1, 'error', 'a/b')])).toContain('  --> compose.yaml:1:1: message of a/b\n')
})
