import { expect, test } from 'vitest'
import { startProblem } from '../../../../../platform/server/http/start-problem.ts'
import { readSettings } from '../../../../../platform/server/settings.ts'

const problemOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return startProblem(error)
  }
}

test('an error in the settings is reported in one line', () => {
  expect(problemOf(() => readSettings('{"forges": [,\n  {}]}'))).toMatch(
    /^does not start: settings: `settings\.json` is not valid JSON: Unexpected token ',', .*$/,
  )
  expect(problemOf(() => readSettings('[]'))).toBe('does not start: settings: `settings.json` is not an object')
  expect(problemOf(() => readSettings('{"domain": 1}'))).toBe('does not start: settings: `domain` is not text')
})

test('any other error is reported with its stack, without the text of the program', () => {
  const told = problemOf(() => (undefined as unknown as { x: string }).x)
  expect(told).toMatch(/^does not start: TypeError: .*\n {4}at /)
  expect(startProblem('lost')).toBe('does not start: lost')
})
