import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { holderOf } from '../../../environment/apply/held-lease.ts'
import { listMemberObjects } from '../http/member-objects.ts'
import { SUSPEND_RULES } from './suspend-rules.ts'

/** Time in milliseconds after which the holder of a Lease that was not renewed is considered gone. */
const SILENCE = 60_000

/**
 * Returns a clause that names the work in progress in a namespace; undefined if the namespace is not in use. Deploys
 * and development containers hold a Lease while they work.
 */
export async function busyBy(
  cluster: Cluster,
  namespace: string,
  now: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const leases = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace }
  for await (const one of listMemberObjects(cluster, leases, signal))
    if (one.metadata.name.startsWith('devctl-') && isFresh(renewedAt(one), now))
      return `\`${holderOf(one)}\` holds \`${one.metadata.name}\``
  return undefined
}

/**
 * Returns true if a Lease was renewed recently. Members can write Leases, so a time in the future is ignored, apart
 * from a small clock skew.
 */
const isFresh = (time: number, now: number): boolean => time > now - SILENCE && time < now + SILENCE

/** Returns the time of a Lease's last renewal, in milliseconds since 1970; 0 if it was never renewed. */
function renewedAt({ spec }: KubeObject): number {
  const { renewTime = '' } = (spec ?? {}) as { readonly renewTime?: string } // a Lease's
  return Date.parse(renewTime) || 0
}

/**
 * Pattern of field managers whose changes are not user activity: controllers and the platform itself. Most controllers
 * do not name their field manager, so the API server takes the name of their program from the user agent.
 */
const BY_ITSELF = /^(kube-controller-manager|devctl-sleep|devctl-platform|traefik|nginx-ingress-controller|keda)$/

/**
 * Returns the time at which a user last changed something in a namespace, in milliseconds since 1970; 0 if never.
 * Considers the managed fields of the namespace's objects, and the Leases of deploys and development containers.
 */
export async function lastWork(cluster: Cluster, namespace: string, now: number, signal: AbortSignal): Promise<number> {
  const leases = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace }
  const lists = [leases, ...SUSPEND_RULES.map(({ apiVersion, kind }) => ({ apiVersion, kind, namespace }))]
  let latest = 0
  for (const query of lists)
    for await (const one of listMemberObjects(cluster, query, signal)) {
      const time = workedAt(one)
      if (time < now + SILENCE) latest = Math.max(latest, time)
    }
  return latest
}

function workedAt(object: KubeObject): number {
  const { kind, metadata } = object
  if (kind === 'Lease') return metadata.name.startsWith('devctl-') ? renewedAt(object) : 0
  const changes = (metadata.managedFields ?? []).filter(
    ({ manager, subresource }) => subresource !== 'status' && !BY_ITSELF.test(manager),
  )
  return Math.max(0, ...changes.map(({ time = '' }) => Date.parse(time) || 0))
}
