import { expect, test } from 'vitest'
import type { Cluster, KubeObject, ObjectQuery, PageOptions } from '../../../../../adapters/kubernetes/cluster.ts'
import { environmentNames } from '../../../../../platform/server/live/environment-names.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'
import { settle } from '../../../../support/objects/fake-clock.ts'

const signal = new AbortController().signal
const record = (environment: string, application: unknown, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: `devctl-${environment}`,
    namespace: 'ns',
    labels: { 'dev.platform/environment': environment },
    ...more,
  },
  data: { application: typeof application === 'string' ? application : JSON.stringify(application) },
})
const services = (...names: string[]) => ({
  services: names.map(service => ({
    service,
    kind: 'Deployment',
    image: 'canary',
    needs: [],
    endpoints: [],
    keys: {},
  })),
})

async function namesIn(objects: readonly KubeObject[]) {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  for (const object of objects) await cluster.create(object)
  return environmentNames(cluster, 'ns', signal)
}

test('environments and services have the names that the deploy recorded', async () => {
  const found = await namesIn([record('shop', services('web', 'api', 'web')), record('blog', services('web'))])
  expect(found).toEqual([
    { name: 'blog', services: ['web'] },
    { name: 'shop', services: ['api', 'web'] },
  ])
})

test('an environment whose services cannot be read has no services', async () => {
  expect(await namesIn([record('shop', '<html>'), record('blog', { services: [{ name: 7 }] })])).toEqual([
    { name: 'blog', services: [] },
    { name: 'shop', services: [] },
  ])
})

test('other ConfigMaps are no environments', async () => {
  const labels = { 'dev.platform/environment': 'shop' }
  expect(
    await namesIn([
      record('shop', services(), { name: 'settings' }),
      record('shop', services(), { labels: { ...labels, 'app.kubernetes.io/part-of': 'shop' } }),
      record('other', services(), { labels: {} }),
    ]),
  ).toEqual([])
})

test('names that are not valid in the path of a page are omitted', async () => {
  expect(await namesIn([record('shop', services('web', '../x', 'Web', 'a'.repeat(64)))])).toEqual([
    { name: 'shop', services: ['web'] },
  ])
  const odd = record('x', services('web'), { name: 'devctl-a.b', labels: { 'dev.platform/environment': 'a.b' } })
  expect(await namesIn([odd])).toEqual([])
})

test('the numbers of objects, environments and services are limited', async () => {
  const many = Array.from({ length: 60 }, (_, at) => record(`e-${at}`, services('web')))
  expect(await namesIn(many)).toHaveLength(50)
  const wide = record('shop', services(...Array.from({ length: 300 }, (_, at) => `s-${at}`)))
  expect((await namesIn([wide]))[0]?.services).toHaveLength(200)
})

test('concurrent lists hold only a few pages in memory', async () => {
  let pages = 0
  let most = 0
  const object = record('shop', services('web'))
  /** Holds a slot as the real cluster does: from the request for a page until the next one is asked for. */
  async function* pagesOf(_: ObjectQuery, options: PageOptions) {
    expect(options.size).toBeLessThanOrEqual(4)
    for (let page = 0; page < 3; page++) {
      const leave = await options.slots!.enter(options.signal)
      most = Math.max(most, ++pages)
      await settle()
      yield [object]
      pages--
      leave()
    }
  }
  const cluster = { pages: pagesOf } as unknown as Cluster // The lists need nothing else.
  const all = Array.from({ length: 20 }, () => environmentNames(cluster, 'ns', signal))
  expect(await Promise.all(all)).toHaveLength(20)
  expect(most).toBe(3)
})
