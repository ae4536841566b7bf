import { test } from 'vitest'
import { expectNoDifference, shuffledCases } from '../support/properties/shuffle.ts'

// Runs the properties of test/unit/properties/determinism.test.ts with other orders.
const runs = Number(process.env.PROPERTY_RUNS ?? 20)
const seed = Number(process.env.PROPERTY_SEED ?? 10_000)

test.each(shuffledCases())('the order of keys does not change the manifests: %s', (_name, one, index) =>
  expectNoDifference(one, { runs, seed: seed + index }),
)
