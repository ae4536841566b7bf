import { describe, test } from 'vitest'
import { partOf } from '../../support/part-of-cases.ts'
import { damagedCases, expectAnswers } from '../../support/properties/damage.ts'

const { cases, title } = partOf(damagedCases(), 6)

// Each case is damaged in one way of its own; `npm run test:long` damages all cases in more ways.
describe(`answers to damaged files: ${title}`, () => {
  test.each(cases)('devctl answers a damaged file: %s', { timeout: 60_000 }, (_name, one, index) =>
    expectAnswers(one, { runs: 1, seed: index + 1 }),
  )
})
