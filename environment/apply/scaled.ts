import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGER } from '../labels.ts'
import type { DesiredObject } from '../plan/desired-state.ts'
import { valueAt } from '../record/up-record.ts'
import { REPLICAS, SUSPEND, WHEN_SCALED } from './suspend-fields.ts'

/**
 * Annotation with the state of a workload before `scale` or `stop`: the number of replicas, followed by `Delete` if the
 * workload deletes unused claims (`1 Delete`). For a stopped workload, also the number that `start` restores (`1 start
 * 2`).
 */
const SCALED_FROM = 'dev.platform/scaled-from'
/** Field manager of `scale`, `stop` and `start`. A deploy reverts the fields of this manager like manual changes. */
const SCALER = `${MANAGER}-scale`

/** State of a workload before `scale` or `stop`. */
export interface ScaledFrom {
  /** Number of replicas that the next deploy restores. */
  readonly replicas: number
  /** Number of replicas that `start` restores; undefined if the workload is not stopped. */
  readonly start: number | undefined
  /**
   * True if the workload deletes the claims of replicas that are scaled away. A stopped workload keeps all claims
   * nevertheless.
   */
  readonly deletesClaims: boolean
}

/**
 * Returns the state before `scale` or `stop`. Undefined if the workload was not scaled, or if a deploy, kubectl or an
 * autoscaler has set the number of replicas afterwards: `devctl-scale` then no longer owns the field.
 */
export function scaledFrom(live: KubeObject): ScaledFrom | undefined {
  const found = /^(\d{1,6})( Delete)?(?: start (\d{1,6}))?$/.exec(live.metadata.annotations?.[SCALED_FROM] ?? '')
  if (!found || !ownsCount(live)) return undefined
  const [, replicas, deletes, start] = found
  return {
    replicas: Number(replicas),
    start: start === undefined ? undefined : Number(start),
    deletesClaims: deletes !== undefined,
  }
}

const ownsCount = (live: KubeObject): boolean =>
  (live.metadata.managedFields ?? []).some(
    ({ manager, fieldsV1 }) =>
      manager === SCALER &&
      valueAt(
        fieldsV1,
        countPath(live).map(key => `f:${key}`),
      ) !== undefined,
  )

const countPath = ({ kind }: KubeObject) => (kind === 'CronJob' ? SUSPEND : REPLICAS)

/** Returns the number of Pods that a workload should have. For a CronJob, returns 0 if it is suspended, else 1. */
export function replicasOf(live: KubeObject): number {
  const value = valueAt(live, countPath(live))
  if (live.kind === 'CronJob') return value === true ? 0 : 1
  return typeof value === 'number' ? value : 1
}

/** Maximum number of attempts to change an object whose status its controller updates at the same time. */
const ATTEMPTS = 5

/**
 * Sets the number of replicas of a Deployment or StatefulSet until the next deploy, or suspends (0) or resumes a
 * CronJob. Throws a ClusterError with `conflict` if the spec of the object has changed since it was read. A changed
 * status is no conflict: controllers update it at any time.
 */
export async function setReplicas(
  cluster: Cluster,
  live: KubeObject,
  replicas: number,
  options: CallOptions,
): Promise<void> {
  const { apiVersion, kind, metadata } = live
  const { name, namespace, uid, generation } = metadata
  for (let current = live, attempt = 1; ; attempt++) {
    try {
      return await patchReplicas(cluster, current, replicas, options)
    } catch (error) {
      if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt === ATTEMPTS) throw error
      const found = await cluster.get({ apiVersion, kind, name, namespace }, options)
      if (!found || found.metadata.uid !== uid || found.metadata.generation !== generation) throw error
      current = found
    }
  }
}

async function patchReplicas(
  cluster: Cluster,
  live: KubeObject,
  replicas: number,
  options: CallOptions,
): Promise<void> {
  const { apiVersion, kind, metadata } = live
  const { name, namespace, resourceVersion } = metadata
  const from = scaledFrom(live) ?? { replicas: replicasOf(live), deletesClaims: deletesClaims(live) }
  // A service without replicas by its files is stopped nevertheless, and `start` needs the number that it had.
  const isBack = replicas === from.replicas && replicas > 0
  const start = replicas === 0 ? ` start ${replicasOf(live)}` : ''
  const text = `${from.replicas}${from.deletesClaims ? ' Delete' : ''}${start}`
  const patch = {
    metadata: { resourceVersion, annotations: { [SCALED_FROM]: isBack ? null : text } },
    spec: kind === 'CronJob' ? { suspend: replicas === 0 } : specWith(replicas, from.deletesClaims),
  }
  await cluster.patch({ apiVersion, kind, name, namespace }, patch, { ...options, manager: SCALER })
}

/** Returns the `spec` fields for a number of replicas. The claims of a stopped service are all kept. */
const specWith = (replicas: number, deletesClaims: boolean) => ({
  replicas,
  ...(deletesClaims && {
    persistentVolumeClaimRetentionPolicy: { whenScaled: replicas === 0 ? 'Retain' : 'Delete' },
  }),
})

const deletesClaims = (live: KubeObject): boolean => valueAt(live, WHEN_SCALED) === 'Delete'

/**
 * Returns the object that a deploy applies to a workload. If `scale` or `stop` has changed the workload, and the files
 * set no number of replicas, adds the number that the workload had before the command. Without a number, an apply would
 * not revert the change.
 */
export function withReplicasBefore(wanted: DesiredObject, live: KubeObject | undefined): DesiredObject {
  const from = live && scaledFrom(live)
  const { object } = wanted
  if (!from || valueAt(object, countPath(object)) !== undefined) return wanted
  const field = object.kind === 'CronJob' ? { suspend: from.replicas === 0 } : { replicas: from.replicas }
  return { ...wanted, object: { ...object, spec: { ...(object['spec'] as object), ...field } } }
}
