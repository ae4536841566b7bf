import type { CallOptions, Cluster, KubeObject } from '../cluster/cluster.ts'
import { listEnvironment } from './changes.ts'
import type { Clock } from './clock.ts'
import { type Holder, isLocked, withLease } from './lease.ts'
import { isDependant } from './owners.ts'
import { inParallel } from './pool.ts'
import { keepsItself } from './prune-rules.ts'
import { deleteRecord, isOwn, type RecordedKind, readRecord, unitedKinds } from './record.ts'
import { deleteObject, gone } from './removal.ts'
import { deleteKept } from './secret-marks.ts'
import { nameOf } from './wanted.ts'

export interface DestroyInput {
  readonly cluster: Cluster
  readonly environment: string
  readonly namespace: string
  readonly holder: Holder
  /** Claims, too. */
  readonly volumes: boolean
  /** Wait until everything is gone, Pods included. */
  readonly wait: boolean
  /** Done first, while the environment is held; when it throws, nothing is deleted. */
  readonly before?: (signal: AbortSignal) => Promise<void>
}

export interface DestroyWorld {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly events: {
    /** What will be deleted, and what stays. */
    planned(doomed: readonly KubeObject[], kept: readonly KubeObject[]): void
    /** An object's deletion was asked for. */
    deleted(object: string): void
    /** Somebody else works on the environment, or has died while doing so. */
    locked(holder: string): void
  }
}

export interface DestroyResult {
  /** As `deployment/web`. */
  readonly deleted: readonly string[]
  /** Claims, and what is annotated to be kept. */
  readonly kept: readonly string[]
  /** There was nothing. */
  readonly wasEmpty: boolean
}

/** What an environment may have although its record is gone or was lost. */
const KNOWN: readonly RecordedKind[] = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'Secret' },
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
]

/** Routes first, so that nobody is led to what is going; then workloads; then what they needed; claims last. */
const ORDER = ['HTTPRoute', 'Ingress', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'Service']

/**
 * Deletes what an environment has, in the reverse of the order in which it was made, and the record last, so that a destroy that is killed can be run again
 * (reference/peers.md 4.9). Claims go only with `volumes`; what is annotated `dev.platform/policy: keep` stays. Throws a UserError, and the signal's reason.
 */
export async function destroyEnvironment(input: DestroyInput, world: DestroyWorld): Promise<DestroyResult> {
  const { cluster, environment, namespace, holder, wait } = input
  const { clock, signal, events } = world
  const options: CallOptions = { signal }
  const [record, locked] = await Promise.all([
    readRecord(cluster, environment, namespace, options),
    isLocked(cluster, environment, namespace, options),
  ])
  const kinds = unitedKinds(KNOWN, record?.kinds ?? [])
  const found = await listEnvironment(cluster, environment, namespace, kinds, options)
  const stays = (object: KubeObject) =>
    keepsItself(object) || (object.kind === 'PersistentVolumeClaim' && !input.volumes)
  const ours = found.filter(object => !isOwn(object, environment) && !isDependant(object))
  const kept = ours.filter(stays)
  const doomed = ours.filter(object => !stays(object))
  const result = { deleted: doomed.map(nameOf), kept: kept.map(nameOf) }
  if (doomed.length === 0 && !record && !locked) return { ...result, wasEmpty: true }
  events.planned(doomed, kept)

  const lease = { cluster, environment, namespace, holder, clock, signal, waiting: events.locked }
  await withLease(lease, async active => {
    await input.before?.(active)
    for (const group of inOrder(doomed))
      await inParallel(group, async object => {
        await deleteObject(cluster, object, wait ? 'Foreground' : 'Background', { signal: active })
        events.deleted(nameOf(object))
      })
    if (wait) await gone(cluster, doomed, active)
    // What stays is found again by its label; it needs no record.
    await deleteKept(cluster, environment, namespace, { signal: active })
    await deleteRecord(cluster, environment, namespace, { signal: active })
  })
  return { ...result, wasEmpty: false }
}

function inOrder(objects: readonly KubeObject[]): readonly (readonly KubeObject[])[] {
  const rank = ({ kind }: KubeObject) =>
    kind === 'PersistentVolumeClaim' ? ORDER.length + 1 : ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length
  const groups = new Map<number, KubeObject[]>()
  for (const object of objects) groups.set(rank(object), [...(groups.get(rank(object)) ?? []), object])
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}
