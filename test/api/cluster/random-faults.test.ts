import { describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { tryRandomFaults } from '../../support/cluster/random-faults.ts'

const cluster = findCluster()

// Uses fixed seeds; test/long has many more.
describe.skipIf(cluster === undefined)('faults at random on the way to the API server', () => {
  test('leave the state that was wanted, or an error that says why', async () => {
    expect(await tryRandomFaults(cluster!, 2, 1000)).toBeDefined()
  })
})
