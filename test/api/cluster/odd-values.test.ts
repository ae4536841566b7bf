import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { tryOddProject } from '../../support/cluster/odd-run.ts'

// `ODD_RUNS=5000 ODD_SEED=1` sets the number and the first seed of the projects; `npm run test:long` has more.
const runs = Number(process.env.ODD_RUNS ?? 100)
const firstSeed = Number(process.env.ODD_SEED ?? 1)
const BATCH = 50

const cluster = findCluster()
const namespace = `odd-values-${process.pid}`

describe.skipIf(cluster === undefined)('manifests with odd values', () => {
  let rendered = 0
  beforeAll(() => cluster!.createNamespace(namespace))
  afterAll(async () => {
    await cluster!.deleteNamespace(namespace)
    cluster!.close()
  })

  for (let first = firstSeed; first < firstSeed + runs; first += BATCH) {
    const seeds = Array.from({ length: Math.min(BATCH, firstSeed + runs - first) }, (_, at) => first + at)
    test(`the API server accepts the manifests of seeds ${first} to ${first + seeds.length - 1}`, async () => {
      const found: string[] = []
      for (let at = 0; at < seeds.length; at += 5)
        for (const result of await Promise.all(
          seeds.slice(at, at + 5).map(seed => tryOddProject(cluster!, namespace, seed)),
        )) {
          if (result.isRendered) rendered++
          found.push(...result.refusals)
        }
      expect(found).toEqual([])
    })
  }

  // The generator finds nothing if devctl refuses all of its projects.
  test('a third of the projects can be rendered', () => expect(rendered).toBeGreaterThan(runs / 3))
})
