import { expect, vi } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { ASLEEP, FALLING_ASLEEP } from '../../../platform/records/asleep.ts'
import { fromNamespace, type ManagedNamespace, STATUS } from '../../../platform/records/namespace.ts'
import type { ServerContext } from '../../../platform/server/context.ts'
import { Sleep } from '../../../platform/server/sleep/sleep.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'

/** Timeout in milliseconds that is enough on a busy machine. */
const LONG = { timeout: 15_000 }

const SLICES = 'discovery.k8s.io/v1'
const NETWORKING = 'networking.k8s.io/v1'
export const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', name: 'shop' }
export const ingressRef = (name: string) => ({ apiVersion: NETWORKING, kind: 'Ingress', name, namespace: 'shop' })
export const deploymentRef = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name, namespace: 'shop' })

export const ingress = (name: string) => ({
  apiVersion: NETWORKING,
  kind: 'Ingress',
  metadata: { name, namespace: 'shop' },
  spec: {
    ingressClassName: 'traefik',
    defaultBackend: { service: { name, port: { number: 80 } } },
    rules: [{ host: `${name}.dev.example.com` }],
  },
})
const slice = (name: string, ready = true) => ({
  apiVersion: SLICES,
  kind: 'EndpointSlice',
  metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready } }],
})
const deployment = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'shop' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: 'nginx' }] } },
  },
})

const classOf = ({ spec }: KubeObject) => (spec as { readonly ingressClassName?: string }).ingressClassName
const replicasOf = ({ spec }: KubeObject) => (spec as { readonly replicas?: number }).replicas

/** The objects of the namespace, besides what a test creates itself. */
interface Application {
  readonly routes?: readonly string[]
  readonly deployments?: readonly string[]
  readonly namespace?: Partial<ManagedNamespace>
  /** Returns true if a request for a host reaches the platform's server. By default, the server cannot find out. */
  readonly leadsHere?: ServerContext['leadsHere']
}

/** A namespace with routes and Deployments, and a function that creates the Sleep of one more replica. */
export async function openShop({
  routes = ['web', 'api'],
  deployments = [],
  namespace = {},
  leadsHere,
}: Application = {}) {
  const time = '2026-01-01T00:00:00Z'
  let now = Date.parse(time)
  const cluster = new MemoryCluster({ namespaces: ['shop'], now: () => now })
  cluster.register({
    apiVersion: SLICES,
    kind: 'EndpointSlice',
    name: 'endpointslices',
    namespaced: true,
    hasStatus: false,
  })
  const record = { status: 'Active', owner: 'a'.repeat(16), created: time, lastActive: time, longerNames: [] } as const
  const object = fromNamespace({ ...record, kind: 'namespace', ...namespace, name: 'shop' })
  await cluster.apply(object, { manager: 'test', force: true })
  for (const name of routes) await cluster.create(ingress(name))
  for (const name of deployments) await cluster.create(deployment(name))
  const log: string[] = []
  const world = {
    cluster,
    settings: { domain: 'dev.example.com' },
    now: () => ++now,
    log: ({ text }: { readonly text: string }) => log.push(text),
    leadsHere,
  } as unknown as ServerContext
  const list = (apiVersion: string, kind: string) => cluster.list({ apiVersion, kind, namespace: 'shop' })
  const state = async () => {
    const { metadata } = (await cluster.get(NAMESPACE))!
    const all = [...(await list(NETWORKING, 'Ingress')), ...(await list('apps/v1', 'Deployment'))]
    const values = all.map(one => [one.metadata.name, one.kind === 'Ingress' ? classOf(one) : replicasOf(one)])
    return { status: metadata.labels?.[STATUS], ...Object.fromEntries(values) }
  }
  const annotation = async (key: string) => (await cluster.get(NAMESPACE))?.metadata.annotations?.[key]
  return {
    cluster,
    world,
    log,
    state,
    becomes: (wanted: Readonly<Record<string, unknown>>) =>
      vi.waitFor(async () => expect(await state()).toEqual(wanted), LONG),
    ready: (name: string, isReady = true) => cluster.apply(slice(name, isReady), { manager: 'test', force: true }),
    asleep: () => annotation(ASLEEP),
    fallingAsleep: () => annotation(FALLING_ASLEEP),
    annotate: (annotations: Readonly<Record<string, string>>) =>
      cluster.patch(NAMESPACE, { metadata: { annotations } }, { manager: 'test' }),
    /** Lets the API server refuse the patches of an object until the returned function is called. */
    refuse(kind: string, name: string) {
      let isRefused = true
      cluster.before = call => {
        if (isRefused && call.verb === 'patch' && call.kind === kind && call.name === name)
          throw new Error(`${kind} ${name} is refused`)
      }
      return () => {
        isRefused = false
      }
    },
    /** Lets background work go on that should do nothing. */
    settle: (milliseconds = 50) => new Promise(resolve => setTimeout(resolve, milliseconds)),
    later: (milliseconds: number) => (now += milliseconds),
    replica: () => new Sleep(world),
  }
}
