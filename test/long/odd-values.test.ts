import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCluster } from '../support/cluster/cluster.ts'
import { tryOddProject } from '../support/cluster/odd-run.ts'

// Runs test/api/cluster/odd-values.test.ts with other seeds.
const runs = Number(process.env.ODD_RUNS ?? 5_000)
const firstSeed = Number(process.env.ODD_SEED ?? 10_000)
const AT_ONCE = 5

const cluster = findCluster()
const namespace = `odd-values-long-${process.pid}`

describe.skipIf(cluster === undefined)('manifests with many odd values', () => {
  beforeAll(() => cluster!.createNamespace(namespace))
  afterAll(async () => {
    await cluster!.deleteNamespace(namespace)
    cluster!.close()
  })

  test('the API server refuses no manifest of a project that devctl accepts', { timeout: 3_600_000 }, async () => {
    const found: string[] = []
    for (let seed = firstSeed; seed < firstSeed + runs; seed += AT_ONCE) {
      const seeds = Array.from({ length: AT_ONCE }, (_, at) => seed + at)
      const results = await Promise.all(seeds.map(one => tryOddProject(cluster!, namespace, one)))
      found.push(...results.flatMap(({ refusals }) => refusals))
    }
    expect(found).toEqual([])
  })
})
