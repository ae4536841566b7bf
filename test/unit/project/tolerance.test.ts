import { expect, test } from 'vitest'
import { toleratesFailures } from '../../../project/tolerance.ts'

test.each([
  [undefined, false, false],
  ['', false, false],
  ['0', false, false],
  ['false', false, false],
  ['true', false, true],
  ['1', false, true],
  ['false', true, true],
] as const)('DEVCTL_TOLERATE_FAILURES=%s and option %s tolerate failures: %s', (value, tolerateFailures, expected) => {
  expect(toleratesFailures({ env: { DEVCTL_TOLERATE_FAILURES: value } }, { tolerateFailures })).toBe(expected)
})
