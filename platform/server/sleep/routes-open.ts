import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { RestingObject } from '../../records/asleep.ts'
import { listMemberObjects, PAGES_OF_MEMBERS } from '../http/member-objects.ts'
import type { FailedChange } from './suspended-objects.ts'

/** Time in milliseconds after a wake at which all routes are opened, even if their backends are not ready. */
const LATEST = 120_000

/** The routes to open. */
interface WantedRoutes {
  readonly cluster: Cluster
  readonly namespace: string
  /** The Ingresses as they were before the sleep. */
  readonly routes: readonly RestingObject[]
  /** Stops the opening when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Opens each Ingress as soon as all Services that it refers to have a ready endpoint. After a deadline, opens the
 * remaining Ingresses, so that users see the error of the application itself. Ingresses that were deleted or replaced
 * are skipped. Returns the Ingresses that could not be opened. Throws if the signal is aborted.
 */
export async function openRoutes(
  { cluster, namespace, routes, signal: stop }: WantedRoutes,
  age: number,
  open: (one: RestingObject) => Promise<void>,
): Promise<readonly FailedChange[]> {
  const failed: FailedChange[] = []
  const byUid = new Map(routes.map(one => [one.uid, one]))
  const waiting = new Map<RestingObject, readonly string[]>()
  const ingresses = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace }
  for await (const live of listMemberObjects(cluster, ingresses, stop)) {
    const one = byUid.get(live.metadata.uid ?? '')
    if (one) waiting.set(one, servicesOf(live))
  }
  const end = AbortSignal.timeout(Math.max(1, LATEST - age))
  const done = new AbortController()
  /**
   * Names of the Services with a ready endpoint. The keys are the names of the EndpointSlices that contain the
   * endpoints.
   */
  const slices = new Map<string, string>()
  const tryOpen = async (one: RestingObject) => {
    waiting.delete(one)
    await open(one).catch(error => {
      stop.throwIfAborted()
      failed.push({ one, error })
    })
  }
  const openReady = async () => {
    const ready = new Set(slices.values())
    for (const [route, services] of waiting) if (services.every(one => ready.has(one))) await tryOpen(route)
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
  for (const one of waiting.keys()) await tryOpen(one)
  return failed
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
