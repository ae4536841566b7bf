import { test } from 'vitest'
import { damagedCases, expectAnswers } from '../support/properties/damage.ts'

// Like test/unit/properties/mutation.test.ts, with seeds that it does not have.
const runs = Number(process.env.PROPERTY_RUNS ?? 50)
const seed = Number(process.env.PROPERTY_SEED ?? 10_000)

test.each(damagedCases())('%s, damaged, is answered', (_name, one, index) =>
  expectAnswers(one, { runs, seed: seed + index }),
)
