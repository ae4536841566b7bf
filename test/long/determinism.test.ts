import { test } from 'vitest'
import { expectNoDifference, shuffledCases } from '../support/properties/shuffle.ts'

// Like test/unit/properties/determinism.test.ts, with orders that it does not have.
const runs = Number(process.env.PROPERTY_RUNS ?? 20)
const seed = Number(process.env.PROPERTY_SEED ?? 10_000)

test.each(shuffledCases())('keys in another order make the same manifests: %s', (_name, one, index) =>
  expectNoDifference(one, { runs, seed: seed + index }),
)
