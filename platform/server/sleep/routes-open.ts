import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { listMemberObjects, PAGES_OF_MEMBERS } from '../http/member-objects.ts'

/** Time in milliseconds after a wake at which all routes are opened, even if their backends are not ready. */
const LATEST = 120_000

/** The routes to open. */
interface WantedRoutes {
  readonly cluster: Cluster
  readonly namespace: string
  /** Names of the Ingresses. */
  readonly names: readonly string[]
  /** Stops the opening when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Opens each Ingress as soon as all Services that it refers to have a ready endpoint. After a deadline, opens the
 * remaining Ingresses, so that users see the error of the application itself. Throws if the signal is aborted.
 */
export async function openRoutes(
  { cluster, namespace, names, signal: stop }: WantedRoutes,
  age: number,
  open: (name: string) => Promise<void>,
): Promise<void> {
  const waiting = new Map<string, readonly string[]>()
  const ingresses = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace }
  for await (const one of listMemberObjects(cluster, ingresses, stop))
    if (names.includes(one.metadata.name)) waiting.set(one.metadata.name, servicesOf(one))
  const end = AbortSignal.timeout(Math.max(1, LATEST - age))
  const done = new AbortController()
  /**
   * Names of the Services with a ready endpoint. The keys are the names of the EndpointSlices that contain the
   * endpoints.
   */
  const slices = new Map<string, string>()
  const openReady = async () => {
    const ready = new Set(slices.values())
    for (const [name, services] of waiting) {
      if (!services.every(one => ready.has(one))) continue
      await open(name)
      waiting.delete(name)
    }
    if (waiting.size === 0) done.abort()
  }
  const signal = AbortSignal.any([end, done.signal, stop])
  try {
    let isListed = false
    const query = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', namespace }
    if (waiting.size > 0)
      for await (const change of cluster.watch(query, { signal, ...PAGES_OF_MEMBERS })) {
        if (change.type === 'Restarted') slices.clear()
        if (change.type === 'Listed') isListed = true
        if (change.type === 'Changed' || change.type === 'Deleted') {
          const { name } = change.object.metadata
          if (change.type === 'Changed' && isReady(change.object)) slices.set(name, serviceOf(change.object))
          else slices.delete(name)
        }
        if (isListed) await openReady()
      }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  stop.throwIfAborted()
  for (const name of waiting.keys()) await open(name)
}

/** Returns the names of all Services that an Ingress refers to. */
export function servicesOf({ spec }: KubeObject): readonly string[] {
  const { defaultBackend, rules } = (spec ?? {}) as {
    readonly defaultBackend?: Backend
    readonly rules?: readonly { readonly http?: { readonly paths?: readonly { readonly backend?: Backend }[] } }[]
  } // an Ingress's
  const backends = [defaultBackend, ...(rules ?? []).flatMap(({ http }) => http?.paths?.map(one => one.backend) ?? [])]
  return [...new Set(backends.flatMap(one => one?.service?.name ?? []))]
}
interface Backend {
  readonly service?: { readonly name?: string }
}

const serviceOf = ({ metadata }: KubeObject): string => metadata.labels?.['kubernetes.io/service-name'] ?? ''

function isReady({ endpoints }: KubeObject): boolean {
  const all = (endpoints ?? []) as readonly { readonly conditions?: { readonly ready?: boolean } }[] // an EndpointSlice's
  return all.some(({ conditions }) => conditions?.ready !== false)
}
