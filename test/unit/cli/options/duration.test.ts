import { expect, test } from 'vitest'
import { parseDuration } from '../../../../cli/options/duration.ts'

test.each([
  ['90s', 90_000],
  ['1h2m3s', 3_723_000],
  ['0s', 0],
  ['1.1h', 3_960_000],
  ['8.2m', 492_000],
  ['1.5ms', 2],
])('a duration is a whole number of milliseconds: %s', (text, milliseconds) => {
  expect(parseDuration(text, '--timeout')).toBe(milliseconds)
})

test.each([
  ['90', 'add a unit: `90s`'],
  ['soon', 'write numbers with units, such as `90s` or `2m30s`'],
])('a duration without units is refused with a hint: %s', (text, hint) => {
  expect(() => parseDuration(text, '--timeout')).toThrow(expect.objectContaining({ hint }))
})
