import { describe, expect, test } from 'vitest'
import { findCluster } from '../support/cluster/cluster.ts'
import { tryRandomFaults } from '../support/cluster/random-faults.ts'

// `FAULT_RUNS=1000 FAULT_SEED=7` sets the number and the first seed of the runs.
const runs = Number(process.env.FAULT_RUNS ?? 100)
const seed = Number(process.env.FAULT_SEED ?? 1_000)

const cluster = findCluster()
const hasNodes = (await cluster?.hasNodes()) ?? false

describe.skipIf(!hasNodes)('many random faults between devctl and the API server', () => {
  test(`${runs} faulty runs end in the wanted state or in an explained error`, { timeout: 7_200_000 }, async () => {
    const { failed } = await tryRandomFaults(cluster!, runs, seed)
    // The test would show nothing if every run passed, or none did.
    expect(failed).toBeGreaterThan(0)
    expect(failed).toBeLessThan(runs / 2)
  })
})
