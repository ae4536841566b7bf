import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { DEVELOPMENT_LABEL, MIRROR_LABEL, UP_ANNOTATION } from '../../constructs/mirror/names.ts'
import type { Difference } from '../plan/comparison.ts'
import { isTaken, UP_MANAGER, type UpRecord, upRecordOf, valueAt } from '../record/up-record.ts'
import { isSamePath, REPLICAS } from './suspend-fields.ts'

/** True for what belongs to a development container; `up` and `down` make and delete it. */
export const isDevelopmentWorkload = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[DEVELOPMENT_LABEL] !== undefined

/** The mirror that stands in for a workload, among objects of its namespace; undefined where it has none. */
export function mirrorOf(workload: KubeObject, objects: readonly KubeObject[]): KubeObject | undefined {
  if (!isTaken(workload)) return undefined
  return objects.find(
    one => isMirror(one) && one.metadata.ownerReferences?.some(({ uid }) => uid === workload.metadata.uid),
  )
}

/** True for a Deployment that stands in for another workload. */
export const isMirror = ({ kind, metadata }: KubeObject): boolean =>
  kind === 'Deployment' && metadata.labels?.[MIRROR_LABEL] !== undefined

/**
 * Returns the object that a deploy applies to a workload that a mirror stands in for: without `replicas`, which `up`
 * controls, if the live number differs.
 */
export function whileResting(wanted: KubeObject, live: KubeObject | undefined): KubeObject {
  const replicas = valueAt(wanted, REPLICAS)
  if (!live || !isTaken(live) || replicas === undefined || replicas === valueAt(live, REPLICAS)) return wanted
  const { replicas: _, ...spec } = wanted['spec'] as Readonly<Record<string, unknown>> // it has replicas
  return { ...wanted, spec }
}

/** The number of Pods that `down` restores, where the files have another one; none otherwise. */
export function replicasToKeep(wanted: KubeObject, live: KubeObject): readonly Difference[] {
  const after = valueAt(wanted, REPLICAS)
  const before = upRecordOf(live)?.before.find(isReplicas)?.value
  return after === undefined || before === undefined || before === after ? [] : [{ keys: REPLICAS, before, after }]
}

/** Writes into the record of a workload how many Pods `down` restores. */
export async function keepReplicas(
  cluster: Cluster,
  live: KubeObject,
  replicas: unknown,
  options: CallOptions,
): Promise<void> {
  const record = upRecordOf(live)
  // `down` was faster.
  if (!record) return
  const before = record.before.map(one => (isReplicas(one) ? { ...one, value: replicas } : one))
  const text = JSON.stringify({ ...record, before })
  const { apiVersion, kind, metadata } = live
  const { name, namespace, resourceVersion } = metadata
  const patch = { metadata: { resourceVersion, annotations: { [UP_ANNOTATION]: text } } }
  await cluster.patch({ apiVersion, kind, name, namespace }, patch, { ...options, manager: UP_MANAGER })
}

const isReplicas = ({ path }: UpRecord['before'][number]): boolean => isSamePath(path, REPLICAS)
