import { writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { HandedVariables } from '../../../commands/handed-variables.ts'

const LARGEST = (128 << 10) - 'LONG=\0'.length

test.each([
  ['is passed on', LARGEST, []],
  ['is a problem', LARGEST + 1, ['the value of `LONG` has more than 128 KiB, which no variable can hold']],
])('a value that a variable can or cannot hold %s', (_, length, problems) => {
  const handed = new HandedVariables()
  onTestFinished(() => handed.remove())
  writeFileSync(handed.path, `LONG=${'x'.repeat(length)}\n`)
  expect(handed.read({})).toEqual(problems)
  expect(Object.keys(handed.values)).toEqual(problems.length > 0 ? [] : ['LONG'])
})
