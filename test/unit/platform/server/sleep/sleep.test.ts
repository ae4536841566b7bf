import { expect, test, vi } from 'vitest'
import { ASLEEP } from '../../../../../platform/records/asleep.ts'
import { fromNamespace, STATUS } from '../../../../../platform/records/namespace.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { Sleep } from '../../../../../platform/server/sleep/sleep.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

/** Timeout in milliseconds that is enough on a busy machine. */
const LONG = { timeout: 15_000 }

const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', name: 'shop' }
const SLICES = 'discovery.k8s.io/v1'
const ingress = (name: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, namespace: 'shop' },
  spec: { ingressClassName: 'traefik', defaultBackend: { service: { name, port: { number: 80 } } } },
})
const slice = (name: string, ready = true) => ({
  apiVersion: SLICES,
  kind: 'EndpointSlice',
  metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready } }],
})

/** A namespace with the routes `web` and `api`, and a function that creates the Sleep of one more replica. */
async function open() {
  const cluster = new MemoryCluster({ namespaces: ['shop'] })
  cluster.register({
    apiVersion: SLICES,
    kind: 'EndpointSlice',
    name: 'endpointslices',
    namespaced: true,
    hasStatus: false,
  })
  const time = '2026-01-01T00:00:00Z'
  const record = {
    kind: 'namespace',
    status: 'Active',
    owner: 'a'.repeat(16),
    created: time,
    lastActive: time,
  } as const
  await cluster.apply(fromNamespace({ ...record, name: 'shop', longerNames: [] }), { manager: 'test', force: true })
  for (const name of ['web', 'api']) await cluster.create(ingress(name))
  const log: string[] = []
  let now = Date.parse(time)
  const world = {
    cluster,
    settings: { domain: 'dev.example.com' },
    now: () => ++now,
    log: ({ text }: { readonly text: string }) => log.push(text),
  } as unknown as ServerContext
  const state = async () => {
    const { metadata } = (await cluster.get(NAMESPACE))!
    const live = await cluster.list({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'shop' }, {})
    const classes = live.map(one => [one.metadata.name, (one.spec as { ingressClassName?: string }).ingressClassName])
    return { status: metadata.labels?.[STATUS], ...Object.fromEntries(classes) }
  }
  const becomes = async (status: string, web: string, api: string) =>
    vi.waitFor(async () => expect(await state()).toEqual({ status, web, api }), LONG)
  const ready = (name: string, isReady = true) => cluster.apply(slice(name, isReady), { manager: 'test', force: true })
  const asleep = async () => (await cluster.get(NAMESPACE))?.metadata.annotations?.[ASLEEP]
  /** Lets background work go on that should do nothing. */
  const settle = (milliseconds = 50) => new Promise(resolve => setTimeout(resolve, milliseconds))
  return {
    cluster,
    log,
    becomes,
    ready,
    asleep,
    settle,
    later: (ms: number) => (now += ms),
    replica: () => new Sleep(world),
  }
}

const SHOP = { name: 'shop' }
const RESTING = 'devctl-asleep'

test.each([
  ['the same replica', 1],
  ['another replica', 2],
])('a namespace that sleeps and wakes again by %s while a route waits gets all routes back', async (_, replicas) => {
  const { becomes, ready, asleep, log, replica } = await open()
  const first = replica()
  const second = replicas === 1 ? first : replica()
  await first.sleep(SHOP)
  await first.wake(SHOP)
  await ready('web')
  await becomes('Waking', 'traefik', RESTING)
  await ready('web', false)
  await second.sleep(SHOP)
  await becomes('Sleeping', RESTING, RESTING)
  await second.wake(SHOP)
  await ready('api')
  await becomes('Waking', RESTING, 'traefik')
  await ready('web')
  await becomes('Active', 'traefik', 'traefik')
  await Promise.all([first.settled(), second.settled()])
  expect(await asleep()).toBeUndefined()
  expect(log).toEqual([])
})

test.each([
  ['the same replica', 1],
  ['another replica', 2],
])('a namespace that %s puts to sleep again while its routes wait keeps them asleep', async (_, replicas) => {
  const { becomes, ready, settle, log, replica } = await open()
  const first = replica()
  const second = replicas === 1 ? first : replica()
  await first.sleep(SHOP)
  await first.wake(SHOP)
  await second.sleep(SHOP)
  await becomes('Sleeping', RESTING, RESTING)
  for (const name of ['web', 'api']) await ready(name)
  await settle()
  await becomes('Sleeping', RESTING, RESTING)
  await first.settled()
  expect(log).toEqual([])
})

test('the time limit of a wake opens no routes of a namespace that sleeps again', async () => {
  const { becomes, later, settle, replica, cluster } = await open()
  const sleep = replica()
  await sleep.sleep(SHOP)
  // Time passes while the wake starts the workloads, so the limit is over shortly after.
  cluster.before = ({ kind, verb }) => {
    if (kind !== 'Deployment' || verb !== 'list') return
    later(119_900)
    cluster.before = () => {}
  }
  await sleep.wake(SHOP)
  await sleep.sleep(SHOP)
  await settle(300)
  await becomes('Sleeping', RESTING, RESTING)
})
