import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isEnding } from '../apply/removal.ts'
import { claimsOf } from '../rollout/tracker.ts'
import { controllerOf } from '../status/owners.ts'

/**
 * Throws a UserError for a claim that is being deleted while Pods use it. When the last of these Pods ends, Kubernetes
 * deletes the claim with its data, and a deploy must not cause this by ending the Pods. Does nothing for other objects,
 * and for a claim whose Pods are ending anyway.
 */
export async function refuseHeldClaim(cluster: Cluster, claim: KubeObject, options: CallOptions): Promise<void> {
  if (claim.kind !== 'PersistentVolumeClaim') return
  const { name, namespace } = claim.metadata
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace }, options)
  const using = pods.filter(pod => claimsOf(pod).includes(name) && !isOver(pod))
  const staying = await Promise.all(using.map(pod => stays(cluster, pod, options)))
  const holders = using.filter((_, index) => staying[index]).map(({ metadata }) => metadata.name)
  if (holders.length === 0) return
  throw new UserError(`the claim \`${name}\` is being deleted, but Pods still use it`, {
    notes: [`it is deleted, with its data, when they stop: ${holders.map(holder => `pod/${holder}`).join(', ')}`],
    hint: `save the data that you need; then run \`kubectl delete pod ${holders.join(' ')} --namespace ${namespace}\` and deploy again, which creates an empty claim`,
  })
}

/**
 * Returns true if a Pod has ended and so no longer uses its claims
 * (https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection).
 */
function isOver({ status }: KubeObject): boolean {
  const { phase } = (status ?? {}) as { readonly phase?: string } // a Pod's status
  return phase === 'Succeeded' || phase === 'Failed'
}

/**
 * Returns true if the object and its chain of controllers exist, and none of them is being deleted together with its
 * dependents.
 */
async function stays(cluster: Cluster, object: KubeObject, options: CallOptions): Promise<boolean> {
  if (isEnding(object) && !isOrphaning(object)) return false
  const owner = controllerOf(object)
  if (!owner) return true
  const { apiVersion, kind, name, uid } = owner
  const there = await cluster.get({ apiVersion, kind, name, namespace: object.metadata.namespace }, options)
  return there !== undefined && there.metadata.uid === uid && stays(cluster, there, options)
}

/** Returns true if the object is being deleted without its dependents. */
const isOrphaning = ({ metadata }: KubeObject): boolean =>
  Array.isArray(metadata['finalizers']) && metadata['finalizers'].includes('orphan')
