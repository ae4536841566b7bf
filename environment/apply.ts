import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../cluster/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Changes, Step } from './changes.ts'
import type { Clock } from './clock.ts'
import { MANAGER } from './labels.ts'
import { inParallel } from './pool.ts'
import { sameKinds, unitedKinds, writeRecord } from './record.ts'
import { isReached } from './status.ts'
import type { Tracked, Tracker } from './tracker.ts'
import { nameOf, serviceOf, type Wanted, type WantedObject, type WantedWorkload } from './wanted.ts'

/** What is told while a deploy runs. */
export interface DeployEvents {
  /** A workload has another status. */
  status(service: string, text: string): void
}

export interface DeployRun {
  readonly cluster: Cluster
  readonly tracker: Tracker
  readonly clock: Clock
  readonly events: DeployEvents
  /** Aborted at the deadline, or by Ctrl-C. */
  readonly signal: AbortSignal
}

/** A workload that does not get where it should; `tracked` says why. */
export class WorkloadFailed extends Error {
  readonly workload: WantedWorkload
  readonly tracked: Tracked

  constructor(workload: WantedWorkload, tracked: Tracked) {
    super(`\`${workload.service}\` does not start`)
    this.workload = workload
    this.tracked = tracked
  }
}

/** Is anything to be done? */
export const isUpToDate = ({ steps, prune, pruneFirst, recorded, kinds }: Changes): boolean =>
  [...steps.values()].every(({ action }) => action === 'unchanged') &&
  prune.length + pruneFirst.length === 0 &&
  recorded !== undefined &&
  sameKinds(recorded, kinds)

/**
 * Does what was planned: the record first, then configuration, the workloads in the order of their dependencies with waits between, routes, and last what nobody
 * wants any more (reference/peers.md 4.2). With `wait` every workload is waited for. Throws the failures of all workloads that failed.
 */
export async function applyChanges(run: DeployRun, wanted: Wanted, changes: Changes, wait: boolean): Promise<void> {
  const { cluster, signal } = run
  const { environment, namespace } = wanted
  const options: CallOptions = { signal }
  const { recorded, kinds, steps } = changes
  const superset = unitedKinds(recorded ?? [], kinds)
  if (!recorded || !sameKinds(superset, recorded))
    await writeRecord(cluster, environment, namespace, { kinds: superset }, options)

  for (const object of changes.pruneFirst) await deleteAndWait(run, object, 'Foreground')
  // One kind after another: a Service needs no claim, but everything needs its order to be the same each time.
  for (const group of byKind(wanted.before)) await inParallel(group, one => applyStep(run, steps.get(one)!))

  const applied = new Map<string, Promise<KubeObject>>()
  const failures: unknown[] = []
  const start = async (workload: WantedWorkload): Promise<void> => {
    for (const { service, condition } of workload.dependencies) {
      const needed = wanted.workloads.find(other => other.service === service)
      const object = await applied.get(service)
      if (!needed || !object) continue
      await waitFor(run, needed, object, ({ status, hasStartedPod }) => isReached(condition, status, hasStartedPod))
    }
  }
  const all = wanted.workloads.map(workload => {
    const object = start(workload).then(() => applyStep(run, steps.get(workload)!))
    applied.set(workload.service, object)
    return object.then(async there => {
      if (wait)
        await waitFor(run, workload, there, ({ status }) => status.state === 'ready' || status.state === 'complete')
    })
  })
  for (const result of await Promise.allSettled(all))
    if (result.status === 'rejected' && !failures.includes(result.reason)) failures.push(result.reason)
  // What failed is told; what it was to replace stays, and a later deploy prunes it (reference/peers.md 4.9).
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)

  await inParallel(wanted.after, one => applyStep(run, steps.get(one)!))
  await inParallel(changes.prune, object => deleteObject(run, object, 'Background'))
  if (!sameKinds(superset, kinds)) await writeRecord(cluster, environment, namespace, { kinds }, options)
}

function byKind(objects: readonly WantedObject[]): readonly (readonly WantedObject[])[] {
  const groups = new Map<string, WantedObject[]>()
  for (const one of objects) groups.set(one.object.kind, [...(groups.get(one.object.kind) ?? []), one])
  return [...groups.values()]
}

/** Brings one object to what is wanted; gives it as it is then. */
async function applyStep(run: DeployRun, step: Step): Promise<KubeObject> {
  const { cluster, signal } = run
  if (step.action === 'unchanged') return step.live
  if (step.action === 'replace') await deleteAndWait(run, step.live, step.orphan ? 'Orphan' : 'Foreground')
  try {
    return await cluster.apply(step.wanted.object, { manager: MANAGER, force: true, signal })
  } catch (error) {
    if (!(error instanceof ClusterError) || signal.aborted) throw error
    throw new UserError(`\`${nameOf(step.wanted.object)}\` cannot be applied: ${error.message}`, { cause: error })
  }
}

async function deleteObject(
  { cluster, signal }: DeployRun,
  object: KubeObject,
  propagation: 'Foreground' | 'Background' | 'Orphan',
): Promise<boolean> {
  const { uid, name, namespace } = object.metadata
  return cluster.delete(
    { apiVersion: object.apiVersion, kind: object.kind, name, namespace },
    { uid, propagation, signal },
  )
}

/** Deletes an object and returns when it is gone, with its Pods where they go with it. */
async function deleteAndWait(run: DeployRun, object: KubeObject, propagation: 'Foreground' | 'Orphan'): Promise<void> {
  const service = serviceOf(object)
  if (service) run.events.status(service, `deleting the old ${object.kind}`)
  if (!(await deleteObject(run, object, propagation))) return
  const { apiVersion, kind, metadata } = object
  const query = { apiVersion, kind, namespace: metadata.namespace }
  const done = new AbortController()
  try {
    const seen = new Set<string>()
    let listed = false
    for await (const change of run.cluster.watch(query, { signal: AbortSignal.any([run.signal, done.signal]) })) {
      if (change.type === 'Restarted') {
        listed = true
        seen.clear()
      } else if (change.object.metadata.uid === metadata.uid) {
        if (change.type === 'Deleted') return
        seen.add(metadata.name)
      }
      if (listed && !seen.has(metadata.name) && !(await stillThere(run, object))) return
    }
  } finally {
    done.abort()
  }
}

async function stillThere(
  { cluster, signal }: DeployRun,
  { apiVersion, kind, metadata }: KubeObject,
): Promise<boolean> {
  const { name, namespace, uid } = metadata
  const found = await cluster.get({ apiVersion, kind, name, namespace }, { signal })
  return found?.metadata.uid === uid
}

/** Waits for a workload; throws WorkloadFailed as soon as waiting cannot help. */
async function waitFor(
  { tracker, events, signal }: DeployRun,
  workload: WantedWorkload,
  applied: KubeObject,
  isDone: (tracked: Tracked) => boolean,
): Promise<void> {
  let last = ''
  const tell = (text: string) => {
    if (text !== last) events.status(workload.service, text)
    last = text
  }
  await tracker.until(
    applied,
    tracked => {
      if (!tracked) return undefined
      tell(tracked.status.text)
      if (isDone(tracked)) return true
      if (tracked.status.state === 'failed' || tracked.problems.length > 0) throw new WorkloadFailed(workload, tracked)
      return undefined
    },
    signal,
  )
}
