import { lookup } from 'node:dns/promises'
import { unlessAborted } from '../../adapters/http/abort.ts'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { readNetworks } from './checks/cluster-networks.ts'
import { DECIDED_OF_BUILDERS, type IngressPeer } from './manifests/builders.ts'
import type { Installation } from './manifests/server.ts'

/** Options of the operator about builders; a missing option keeps the installed value. */
export interface BuildersInput {
  /** Number of builders; `0` removes them. */
  readonly builders: string | undefined
  /** Number of builders for code of forks; `0` removes them. */
  readonly untrustedBuilders: string | undefined
  /** Disk size of each builder. */
  readonly builderSize: string | undefined
  /** Networks of the cluster that builds may reach by HTTPS, separated by commas. */
  readonly builderNetworks: string | undefined
}

type Settings = Readonly<Record<string, unknown>>
type Found = Readonly<Partial<Record<'count' | 'untrusted' | 'size' | 'networks', unknown>>>

const SIZE = '50Gi'
/** Timeout for the DNS query about the platform's host, in milliseconds. */
const DNS = 5000

/**
 * Returns the wanted builders, and the other settings, which are kept. Throws a UsageError for options that cannot be
 * combined.
 */
export function wantedBuilders(
  { builders, untrustedBuilders, builderSize, builderNetworks }: BuildersInput,
  settings: Settings,
  image: string,
): Pick<Installation, 'bundledBuilders'> & { readonly kept: Settings } {
  const { bundledBuilders, ...others } = settings
  const before = (bundledBuilders ?? {}) as Found
  const [countBefore, untrustedBefore] = [numberIn(before.count), numberIn(before.untrusted)]
  const count = builders === undefined ? countBefore : Number(builders)
  const untrusted = untrustedBuilders === undefined ? untrustedBefore : Number(untrustedBuilders)
  const kept = withoutOwn(others, [
    ...(countBefore > 0 && count === 0 ? DECIDED_OF_BUILDERS.default : []),
    ...(untrustedBefore > 0 && untrusted === 0 ? DECIDED_OF_BUILDERS.untrusted : []),
  ])
  if (count + untrusted === 0) {
    if (builderSize !== undefined || builderNetworks !== undefined)
      throw new UsageError('`--builder-size` and `--builder-networks` need `--builders` or `--untrusted-builders`', {
        hint: 'add `--builders 1`',
      })
    return { kept }
  }
  const sizeBefore = typeof before.size === 'string' ? before.size : undefined
  // The builders for forks have no persistent volume claim.
  if (countBefore > 0 && sizeBefore !== undefined && builderSize !== undefined && builderSize !== sizeBefore)
    throw new UsageError(`the disks of the builders have ${sizeBefore}`, {
      hint: 'install once with `--builders 0`, delete the claims in `devctl-build`, and install again',
    })
  const size = builderSize ?? sizeBefore ?? SIZE
  const known = Array.isArray(before.networks) ? (before.networks as readonly string[]) : []
  const networks = builderNetworks === undefined ? known : readNetworks(builderNetworks, '10.42.0.5/32')
  return { kept, bundledBuilders: { image, count, untrusted, size, networks } }
}

const numberIn = (value: unknown): number => (typeof value === 'number' ? value : 0)

/**
 * Returns the settings without the keys in `gone` of the setting `builders`. Removes `builders` completely if it then
 * lists no addresses. Keeps addresses that an administrator has written, because `gone` contains only keys that an
 * installation writes.
 */
function withoutOwn(settings: Settings, gone: readonly string[]): Settings {
  const { builders, ...others } = settings
  if (gone.length === 0 || typeof builders !== 'object' || builders === null) return settings
  const left = Object.fromEntries(Object.entries(builders).filter(([key]) => !gone.includes(key)))
  return 'default' in left || 'untrusted' in left ? { ...others, builders: left } : others
}

/**
 * Returns the addresses at which Pods reach the ingress controller: the addresses of the platform's host, and the Pods
 * behind the load balancer Service that has one of these addresses, with the target ports of its HTTPS port. The Pods
 * are needed because network plugins may apply policies after the address was translated. Other load balancer Services
 * are ignored.
 */
export async function ingressPeers(
  cluster: Cluster,
  host: string,
  signal: AbortSignal,
): Promise<readonly IngressPeer[]> {
  const addresses = await addressesOf(host, signal)
  const services = await cluster.list({ apiVersion: 'v1', kind: 'Service' }, { signal })
  const cidrs = [...addresses].filter(address => !address.startsWith('127.')).map(address => `${address}/32`)
  const balanced = await Promise.all(services.map(one => balancedBy(cluster, one, addresses, signal)))
  return [...cidrs.sort().map(cidr => ({ cidr })), ...balanced.flatMap(one => one ?? [])]
}

async function addressesOf(host: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const within = withTimeLimit(DNS, signal)
  const found = await unlessAborted(lookup(host, { all: true, family: 4 }), within).catch(() => [])
  return new Set(found.map(({ address }) => address))
}

/** Spec of a Service, as Kubernetes defines it. */
interface Balancer {
  readonly type?: string
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly targetPort?: number | string }[]
  readonly selector?: Readonly<Record<string, string>>
}

/** Status of a Service. The cluster writes it; a user who may only create Services cannot. */
interface BalancerStatus {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
}

async function balancedBy(
  cluster: Cluster,
  { metadata, ...service }: KubeObject,
  addresses: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<IngressPeer | undefined> {
  const { type, ports = [], selector = {} } = (service['spec'] ?? {}) as Balancer
  const { name, namespace, labels } = metadata
  const https = ports.find(({ port }) => port === 443)
  const isOfPlatform = labels?.['app.kubernetes.io/part-of'] === 'devctl'
  if (type !== 'LoadBalancer' || !https || Object.keys(selector).length === 0 || !namespace || isOfPlatform)
    return undefined
  const { loadBalancer } = (service['status'] ?? {}) as BalancerStatus
  const own = (loadBalancer?.ingress ?? []).map(async ({ ip, hostname }) =>
    ip !== undefined ? [ip] : hostname !== undefined ? [...(await addressesOf(hostname, signal))] : [],
  )
  if (!(await Promise.all(own)).flat().some(address => addresses.has(address))) return undefined
  const { targetPort = 443 } = https
  const found =
    typeof targetPort === 'number' ? [targetPort] : await namedPorts(cluster, name, namespace, https, signal)
  // A policy may refer to a port by its name in the Pod.
  return { namespace, labels: selector, ports: found.length > 0 ? found : [targetPort] }
}

/** Returns the numbers that a named port has in the Pods of a Service. */
async function namedPorts(
  cluster: Cluster,
  service: string,
  namespace: string,
  { name: wanted = '' }: { readonly name?: string },
  signal: AbortSignal,
): Promise<readonly number[]> {
  const labels = `kubernetes.io/service-name=${service}`
  const slices = await cluster.list(
    { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace, labels },
    { signal },
  )
  const all = slices.flatMap(slice => (slice['ports'] ?? []) as readonly { name?: string | null; port?: number }[])
  const numbers = all.flatMap(({ name, port }) => ((name ?? '') === wanted && port !== undefined ? [port] : []))
  return [...new Set(numbers)].sort((a, b) => a - b)
}
