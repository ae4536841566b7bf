import { test } from 'vitest'
import { damagedCases, expectAnswers } from '../../support/properties/damage.ts'

// One way for each case, another for each; `npm run test:long` damages more.
test.each(damagedCases())('%s, damaged, is answered', { timeout: 60_000 }, (_name, one, index) =>
  expectAnswers(one, { runs: 1, seed: index + 1 }),
)
