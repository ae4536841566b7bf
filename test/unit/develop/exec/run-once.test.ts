import { expect, test } from 'vitest'
import { lineReader } from '../../../../develop/exec/run-once.ts'

const read = (...parts: readonly (string | Buffer)[]) => {
  const lines: string[] = []
  const { take, end } = lineReader(text => lines.push(text))
  for (const part of parts) take(Buffer.from(part))
  end()
  return lines
}

test.each([
  [['one\ntwo\n'], ['one', 'two']],
  [
    ['on', 'e\n\ntw', 'o'],
    ['one', '', 'two'],
  ],
  [
    ['one\r', '\ntwo'],
    ['one', 'two'],
  ],
  [[Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])], ['é']],
  [[], []],
])('lineReader joins the printed parts and splits them into lines: %j', (parts, expected) => {
  expect(read(...parts)).toEqual(expected)
})

test('lineReader breaks a long line that has no end', () => {
  expect(read(...Array.from({ length: 10 }, () => 'x'.repeat(10_000))).length).toBeGreaterThan(1)
})
