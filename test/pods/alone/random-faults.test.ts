import { describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { tryRandomFaults } from '../../support/cluster/random-faults.ts'

const cluster = findCluster()
const hasNodes = (await cluster?.hasNodes()) ?? false

// The same seeds each time; test/long has many.
describe.skipIf(!hasNodes)('faults at random on the way to the API server', () => {
  test('leave the state that was wanted, or an error that says why', async () => {
    expect(await tryRandomFaults(cluster!, 6, 1000)).toBeDefined()
  })
})
