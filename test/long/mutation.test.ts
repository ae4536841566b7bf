import { test } from 'vitest'
import { damagedCases, expectAnswers } from '../support/properties/damage.ts'

// Runs the properties of test/unit/properties/mutation.test.ts with other seeds.
const runs = Number(process.env.PROPERTY_RUNS ?? 50)
const seed = Number(process.env.PROPERTY_SEED ?? 10_000)

test.each(damagedCases())('a damaged file of %s ends in manifests or errors', (_name, one, index) =>
  expectAnswers(one, { runs, seed: seed + index }),
)
