import { describe, expect, test } from 'vitest'
import { tryRoundTrip } from '../../support/cli/generated-round-trip.ts'
import { oddProject } from '../../support/cluster/odd-project.ts'
import { generate } from '../../support/differential/generate.ts'

// `ROUND_TRIP_RUNS=2000 ROUND_TRIP_SEED=1` makes more projects, or others; `npm run test:long` makes many.
const runs = Number(process.env.ROUND_TRIP_RUNS ?? 25)
const firstSeed = Number(process.env.ROUND_TRIP_SEED ?? 1)

describe('generated projects', () => {
  test.each([
    ['as people write them', generate],
    ['with odd values', (seed: number) => ({ load: [], profiles: [], ...oddProject(seed) })],
  ])('the output of `config` renders to the same: %s', { timeout: runs * 2000 }, async (_, make) => {
    let rendered = 0
    for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
      const { isRendered, difference } = await tryRoundTrip(make(seed))
      if (isRendered) rendered++
      expect(difference, `seed ${seed}`).toBeUndefined()
    }
    // Projects that are all refused would show nothing.
    expect(rendered).toBeGreaterThan(runs / 4)
  })
})
