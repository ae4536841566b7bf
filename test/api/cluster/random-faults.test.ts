import { describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { tryRandomFaults } from '../../support/cluster/random-faults.ts'

const cluster = findCluster()

// The seeds are fixed; test/long has many more.
describe.skipIf(cluster === undefined)('random faults between devctl and the API server', () => {
  test('random faults end in the wanted state, or in an error with the reason', async () => {
    expect(await tryRandomFaults(cluster!, 2, 1000)).toBeDefined()
  })
})
