import { describe, expect, test } from 'vitest'
import { findCluster } from '../support/cluster/cluster.ts'
import { tryRandomFaults } from '../support/cluster/random-faults.ts'

// `FAULT_RUNS=1000 FAULT_SEED=7` makes more runs than test/api/cluster/random-faults.test.ts, or other ones.
const runs = Number(process.env.FAULT_RUNS ?? 100)
const seed = Number(process.env.FAULT_SEED ?? 1_000)

const cluster = findCluster()
const hasNodes = (await cluster?.hasNodes()) ?? false

describe.skipIf(!hasNodes)('many faults at random on the way to the API server', () => {
  test(`leave the state that was wanted, or an error that says why: ${runs} runs`, { timeout: 7_200_000 }, async () => {
    const { failed } = await tryRandomFaults(cluster!, runs, seed)
    // If every fault passed, or none did, the test would show nothing.
    expect(failed).toBeGreaterThan(0)
    expect(failed).toBeLessThan(runs / 2)
  })
})
