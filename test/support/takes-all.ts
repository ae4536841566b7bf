import { type TestFunction, test } from 'vitest'

/** True if the tests also cover what a run before a merge may skip: `npm run test:long` sets it. */
export const TAKES_ALL = process.env.TAKE === 'all'

/** Returns the first of the cases, for which a merge waits; all of them in `npm run test:long`. */
export const few = <T>(cases: readonly T[], count = 1): readonly T[] => (TAKES_ALL ? cases : cases.slice(0, count))

/**
 * Declares a test that `npm run test:long` runs, and no merge waits for: another one of its file stands for its kind.
 */
export const longTest = (name: string, body: TestFunction): void => {
  if (TAKES_ALL) test(name, body)
}
