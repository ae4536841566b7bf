import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { DEVELOPMENT_LABEL, MIRROR_LABEL, UP_ANNOTATION } from '../../constructs/mirror/names.ts'
import type { Difference } from '../plan/comparison.ts'
import { isTaken, UP_MANAGER, type UpRecord, upRecordOf, valueAt } from '../record/up-record.ts'
import { isSamePath, REPLICAS } from './suspend-fields.ts'

/** Returns true for the objects of a development container, which `up` and `down` create and delete. */
export const isDevelopmentWorkload = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[DEVELOPMENT_LABEL] !== undefined

/**
 * Returns the mirror of a workload, a Deployment that stands in for the workload during development, from the objects
 * of its namespace; undefined if there is none.
 */
export function mirrorOf(workload: KubeObject, objects: readonly KubeObject[]): KubeObject | undefined {
  if (!isTaken(workload)) return undefined
  return objects.find(
    one => isMirror(one) && one.metadata.ownerReferences?.some(({ uid }) => uid === workload.metadata.uid),
  )
}

/** Returns true for a Deployment that stands in for another workload. */
export const isMirror = ({ kind, metadata }: KubeObject): boolean =>
  kind === 'Deployment' && metadata.labels?.[MIRROR_LABEL] !== undefined

/**
 * Returns the object that a deploy applies to a workload. While a mirror stands in for the workload, `up` controls the
 * number of replicas. If this number differs from the wanted number, the result has no `replicas`.
 */
export function whileResting(wanted: KubeObject, live: KubeObject | undefined): KubeObject {
  const replicas = valueAt(wanted, REPLICAS)
  if (!live || !isTaken(live) || replicas === undefined || replicas === valueAt(live, REPLICAS)) return wanted
  const { replicas: _, ...spec } = wanted['spec'] as Readonly<Record<string, unknown>> // it has replicas
  return { ...wanted, spec }
}

/**
 * Returns the difference in `replicas` if `down` would restore a number of Pods other than the number in the files;
 * otherwise an empty list.
 */
export function replicasToKeep(wanted: KubeObject, live: KubeObject): readonly Difference[] {
  const after = valueAt(wanted, REPLICAS)
  const before = upRecordOf(live)?.before.find(isReplicas)?.value
  return after === undefined || before === undefined || before === after ? [] : [{ keys: REPLICAS, before, after }]
}

/** Writes the number of Pods that `down` restores into the record of a workload. */
export async function keepReplicas(
  cluster: Cluster,
  live: KubeObject,
  replicas: unknown,
  options: CallOptions,
): Promise<void> {
  const record = upRecordOf(live)
  // `down` has already removed the record.
  if (!record) return
  const before = record.before.map(one => (isReplicas(one) ? { ...one, value: replicas } : one))
  const text = JSON.stringify({ ...record, before })
  const { apiVersion, kind, metadata } = live
  const { name, namespace, resourceVersion } = metadata
  const patch = { metadata: { resourceVersion, annotations: { [UP_ANNOTATION]: text } } }
  await cluster.patch({ apiVersion, kind, name, namespace }, patch, { ...options, manager: UP_MANAGER })
}

const isReplicas = ({ path }: UpRecord['before'][number]): boolean => isSamePath(path, REPLICAS)
