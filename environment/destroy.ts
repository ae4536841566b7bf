import type { CallOptions, Cluster, KubeObject } from '../cluster/cluster.ts'
import { listEnvironment } from './changes.ts'
import type { Clock } from './clock.ts'
import { withLease } from './lease.ts'
import { inParallel } from './pool.ts'
import { keepsItself } from './prune-rules.ts'
import { deleteRecord, type RecordedKind, readRecord, recordName, unitedKinds } from './record.ts'
import { nameOf } from './wanted.ts'

export interface DestroyInput {
  readonly cluster: Cluster
  readonly environment: string
  readonly namespace: string
  readonly holder: string
  /** Claims, too. */
  readonly volumes: boolean
  /** Wait until everything is gone, Pods included. */
  readonly wait: boolean
}

export interface DestroyResult {
  /** As `deployment/web`. */
  readonly deleted: readonly string[]
  /** Claims, and what is annotated to be kept. */
  readonly kept: readonly string[]
  /** There was nothing. */
  readonly wasEmpty: boolean
}

/** What an environment may have although its record is gone: a destroy that was killed at its very end left nothing else. */
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
 * Deletes what an environment has, in the reverse of the order in which it was made, and the record last, so that a destroy that is killed can be run again (reference/peers.md 4.9).
 * Claims go only with `volumes`; what is annotated `dev.platform/policy: keep` stays.
 */
export async function destroyEnvironment(
  input: DestroyInput,
  {
    clock,
    signal,
    deleting,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly deleting: (name: string) => void },
): Promise<DestroyResult> {
  const { cluster, environment, namespace } = input
  const options: CallOptions = { signal }
  const record = await readRecord(cluster, environment, namespace, options)
  const find = () => listEnvironment(cluster, environment, namespace, unitedKinds(KNOWN, record?.kinds ?? []), options)
  const found = await find()
  const isRecord = ({ kind, metadata }: KubeObject) => kind === 'ConfigMap' && metadata.name === recordName(environment)
  const isOwned = ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []).length > 0
  const stays = (object: KubeObject) =>
    keepsItself(object) || (object.kind === 'PersistentVolumeClaim' && !input.volumes)
  const ours = found.filter(object => !isRecord(object) && !isOwned(object))
  const kept = ours.filter(stays)
  const doomed = ours.filter(object => !stays(object))
  if (doomed.length === 0 && !record) return { deleted: [], kept: kept.map(nameOf), wasEmpty: true }

  await withLease(cluster, { environment, namespace, holder: input.holder }, clock, options, async () => {
    for (const group of inOrder(doomed))
      await inParallel(group, async ({ apiVersion, kind, metadata }) => {
        deleting(`${kind.toLowerCase()}/${metadata.name}`)
        const { name, uid } = metadata
        const propagation = input.wait ? 'Foreground' : 'Background'
        await cluster.delete({ apiVersion, kind, name, namespace }, { uid, propagation, signal })
      })
    if (input.wait) await gone(find, doomed, clock, signal)
    // Claims that stay are found by their label: the record is no longer needed for them.
    await deleteRecord(cluster, environment, namespace, options)
  })
  return { deleted: doomed.map(nameOf), kept: kept.map(nameOf), wasEmpty: false }
}

function inOrder(objects: readonly KubeObject[]): readonly (readonly KubeObject[])[] {
  const rank = ({ kind }: KubeObject) =>
    kind === 'PersistentVolumeClaim' ? ORDER.length + 1 : ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length
  const groups = new Map<number, KubeObject[]>()
  for (const object of objects) groups.set(rank(object), [...(groups.get(rank(object)) ?? []), object])
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}

/** Returns when none of the objects is there any more. They are deleted in the foreground: their Pods go before them. */
async function gone(
  find: () => Promise<readonly KubeObject[]>,
  objects: readonly KubeObject[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid))
  for (;;) {
    if ((await find()).every(({ metadata }) => !uids.has(metadata.uid))) return
    await new Promise<void>((resolve, reject) => {
      const stop = clock.every(500, () => {
        stop()
        if (signal.aborted) reject(signal.reason)
        else resolve()
      })
    })
  }
}
