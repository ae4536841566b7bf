import { describe, test } from 'vitest'
import { partOf } from '../../support/part-of-cases.ts'
import { damagedCases, expectAnswers } from '../../support/properties/damage.ts'

const { cases, title } = partOf(damagedCases(), 6)

// One way for each case, another for each; `npm run test:long` damages all, in more ways.
describe(`a damaged file is answered: ${title}`, () => {
  test.each(cases)('%s', { timeout: 60_000 }, (_name, one, index) => expectAnswers(one, { runs: 1, seed: index + 1 }))
})
