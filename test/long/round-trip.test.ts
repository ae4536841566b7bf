import { expect, test } from 'vitest'
import { expectRoundTrip, printedCases } from '../support/cli/config-round-trip.ts'
import { tryRoundTrip } from '../support/cli/generated-round-trip.ts'
import { oddProject } from '../support/cluster/odd-project.ts'
import { generate } from '../support/differential/generate.ts'

test.each(printedCases())('the output of `config` can be read again: %s', (_name, one) =>
  expectRoundTrip(one, ['yaml', 'json']),
)

// Runs test/unit/cli/round-trip-generated.test.ts with other seeds.
const runs = Number(process.env.ROUND_TRIP_RUNS ?? 3000)
const firstSeed = Number(process.env.ROUND_TRIP_SEED ?? 10_000)

test.each([
  ['as people write them', generate],
  ['with odd values', (seed: number) => ({ load: [], profiles: [], ...oddProject(seed) })],
])('the output of `config` for projects %s renders to the same manifests', async (_, make) => {
  const found: string[] = []
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const { difference } = await tryRoundTrip(make(seed))
    if (difference) found.push(`seed ${seed}: ${difference}`)
  }
  expect(found).toEqual([])
})
