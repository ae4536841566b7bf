import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../cluster/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { isDeclaredElsewhere, noteAdoption, takeOverFields } from './adoption.ts'
import type { Changes } from './changes.ts'
import type { Clock } from './clock.ts'
import { SHORT } from './failures.ts'
import { MANAGER } from './labels.ts'
import { inParallel } from './pool.ts'
import { type EnvironmentRecord, sameKinds, unitedKinds, writeRecord } from './record.ts'
import { deleteAndWait, deleteObject } from './removal.ts'
import { isReached, type WorkloadStatus } from './status.ts'
import type { Step } from './steps.ts'
import { freeStuckPods } from './stuck-pods.ts'
import type { Tracked, Tracker } from './tracker.ts'
import { nameOf, serviceOf, type Wanted, type WantedObject, type WantedWorkload } from './wanted.ts'

/** What is told while a deploy runs. */
export interface ApplyEvents {
  /** An object was written, or deleted. */
  done(action: 'create' | 'update' | 'replace' | 'delete', object: string): void
  /** A workload waits for others. */
  waiting(service: string, needs: readonly string[]): void
  /** A workload has another status. */
  status(service: string, status: WorkloadStatus): void
}

export interface DeployRun {
  readonly cluster: Cluster
  readonly tracker: Tracker
  readonly events: ApplyEvents
  readonly clock: Clock
  /** Who deploys. */
  readonly by: string
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

/**
 * Writes the record before anything else: with all kinds, old and new, so that a crash from here on loses track of nothing. Gives what it is
 * then; throws as `writeRecord` does.
 */
export async function recordBefore(run: DeployRun, wanted: Wanted, changes: Changes): Promise<EnvironmentRecord> {
  const { recorded, record } = changes
  const all = { ...record, kinds: unitedKinds(recorded?.kinds ?? [], record.kinds) }
  return write(run, wanted, { ...all, ...(recorded?.version && { version: recorded.version }) })
}

/**
 * Does what was planned: configuration, the workloads in the order of their dependencies with waits between, routes, and last what nobody
 * wants any more (reference/peers.md 4.2); then shrinks the record, which is as `recordBefore` gave it. With `wait` every workload is waited
 * for. Throws the failures of all workloads that failed, and then deletes nothing.
 */
export async function applyChanges(
  run: DeployRun,
  wanted: Wanted,
  changes: Changes,
  recorded: EnvironmentRecord,
  wait: boolean,
): Promise<void> {
  const { cluster, signal, events } = run
  const { steps, record } = changes
  for (const object of changes.pruneFirst) {
    tellDeleting(run, object)
    await deleteAndWait(cluster, object, 'Foreground', { signal })
    events.done('delete', nameOf(object))
  }
  // One kind after another: everything needs its order to be the same each time.
  for (const group of byKind(wanted.before)) await inParallel(group, one => applyStep(run, steps.get(one)!))
  await applyWorkloads(run, wanted, steps, wait)
  await inParallel(wanted.after, one => applyStep(run, steps.get(one)!))
  await inParallel(changes.prune, async object => {
    await deleteObject(cluster, object, 'Background', { signal })
    events.done('delete', nameOf(object))
  })
  if (!sameKinds(recorded.kinds, record.kinds)) await write(run, wanted, { ...recorded, kinds: record.kinds })
}

async function write(
  run: DeployRun,
  { environment, namespace }: Wanted,
  record: EnvironmentRecord,
): Promise<EnvironmentRecord> {
  const whole = { ...record, deployed: { by: run.by, at: new Date(run.clock.now()).toISOString() } }
  const version = await writeRecord(run.cluster, environment, namespace, whole, { signal: run.signal })
  return { ...whole, ...(version && { version }) }
}

/** Milliseconds that other workloads get when one has failed: what fails for the same reason is told with it, and nobody waits for the rest. */
const GRACE = 3000

/** Applies each workload when what it depends on is reached, all at the same time. With `wait` waits for all of them. Throws as `applyChanges` does. */
export async function applyWorkloads(
  run: DeployRun,
  { workloads }: Wanted,
  steps: Changes['steps'],
  wait: boolean,
): Promise<void> {
  const told: Told = { statuses: new Map(), released: new Set() }
  const others = new AbortController()
  const waiting = { ...run, signal: AbortSignal.any([run.signal, others.signal]) }
  const reach = (workload: WantedWorkload, object: KubeObject, isDone: (tracked: Tracked) => boolean) =>
    waitFor(waiting, told, workload, object, isDone)
  const applied = new Map<string, Promise<KubeObject>>()
  const apply = async (workload: WantedWorkload): Promise<KubeObject> => {
    const needs = workload.dependencies.filter(({ service }) => applied.has(service))
    // One that is as it should be waits for nobody.
    if (needs.length > 0 && steps.get(workload)!.action !== 'unchanged')
      run.events.waiting(
        workload.service,
        needs.map(({ service }) => service),
      )
    await Promise.all(
      needs.map(async ({ service, condition }) => {
        const needed = workloads.find(other => other.service === service)!
        const object = await applied.get(service)!
        await reach(needed, object, ({ status, hasStartedPod }) => isReached(condition, status, hasStartedPod))
      }),
    )
    return applyStep(run, steps.get(workload)!)
  }
  const all = workloads.map(async workload => {
    const object = apply(workload)
    applied.set(workload.service, object)
    const there = await object
    if (wait) await reach(workload, there, ({ status }) => status.state === 'ready' || status.state === 'complete')
  })
  const stopped = new Error('something else has failed')
  let forget: (() => void) | undefined
  for (const one of all)
    one.catch(() => {
      forget ??= run.clock.every(GRACE, () => others.abort(stopped))
    })
  const failures = new Set<unknown>()
  for (const result of await Promise.allSettled(all)) if (result.status === 'rejected') failures.add(result.reason)
  forget?.()
  failures.delete(stopped)
  // What failed is told; what it was to replace stays, and a later deploy prunes it (reference/peers.md 4.9).
  if (failures.size > 1) throw new AggregateError([...failures])
  for (const failure of failures) throw failure
}

function byKind(objects: readonly WantedObject[]): readonly (readonly WantedObject[])[] {
  const groups = new Map<string, WantedObject[]>()
  for (const one of objects) groups.set(one.object.kind, [...(groups.get(one.object.kind) ?? []), one])
  return [...groups.values()]
}

function tellDeleting({ events }: DeployRun, object: KubeObject): void {
  const service = serviceOf(object)
  if (service !== undefined) events.status(service, { state: 'waiting', text: `deleting the old ${object.kind}` })
}

/** Brings one object to what is wanted; gives it as it is then. */
async function applyStep(run: DeployRun, step: Step): Promise<KubeObject> {
  const { cluster, signal, events } = run
  if (step.action === 'unchanged') return step.live
  const options: CallOptions & { readonly signal: AbortSignal } = { signal }
  if (step.action === 'replace') {
    tellDeleting(run, step.live)
    await deleteAndWait(cluster, step.live, step.orphan ? 'Orphan' : 'Foreground', { signal })
  }
  if (step.action === 'update' && step.isAdopted && isDeclaredElsewhere(step.live))
    await takeOverFields(cluster, step.live, options)
  try {
    // With force: the plan has asked, or decided, about all that others have.
    const object = await cluster.apply(step.object, { ...options, manager: MANAGER, force: true })
    if (step.action === 'update' && step.isAdopted) {
      const at = new Date(run.clock.now()).toISOString()
      await noteAdoption(cluster, object, { by: run.by, at }, { signal })
    }
    events.done(step.action, nameOf(object))
    for (const pod of await freeStuckPods(cluster, step, run.clock.now(), { signal }))
      events.done('delete', `pod/${pod}`)
    return object
  } catch (error) {
    if (!(error instanceof ClusterError) || signal.aborted || isContact(error)) throw error
    throw new UserError(`\`${nameOf(step.object)}\` cannot be applied: ${error.message}`, { cause: error })
  }
}

/** Whether it is not about the object. */
const isContact = ({ failure }: ClusterError): boolean =>
  failure === 'unreachable' || failure === 'unavailable' || failure === 'unauthorized'

/** What the waits of a run share, since several may be for one workload. */
interface Told {
  /** The last status that was told, by service. */
  readonly statuses: Map<string, string>
  /** UIDs of Pods that were deleted because nothing else would. */
  readonly released: Set<string | undefined>
}

/** Waits for a workload; throws WorkloadFailed as soon as waiting cannot help. */
async function waitFor(
  { cluster, tracker, events, signal }: DeployRun,
  { statuses, released }: Told,
  workload: WantedWorkload,
  applied: KubeObject,
  isDone: (tracked: Tracked) => boolean,
): Promise<void> {
  let failure: unknown
  const release = (pod: KubeObject): void => {
    const { uid } = pod.metadata
    if (released.has(uid)) return
    released.add(uid)
    deleteObject(cluster, pod, 'Background', { signal }).then(
      wasThere => wasThere && events.done('delete', nameOf(pod)),
      error => {
        failure = error
      },
    )
  }
  await tracker.until(
    applied,
    tracked => {
      if (failure) throw failure
      if (!tracked) return undefined
      tracked.stuck.forEach(release)
      const isWell = isDone(tracked)
      const [problem] = tracked.problems
      // Said at once: what other workloads come to may take some time.
      const status: WorkloadStatus =
        problem && !isWell ? { state: 'failed', text: SHORT[problem.code] } : tracked.status
      const text = `${status.state} ${status.text}`
      if (statuses.get(workload.service) !== text) {
        statuses.set(workload.service, text)
        events.status(workload.service, status)
      }
      if (isWell) return true
      if (status.state === 'failed') throw new WorkloadFailed(workload, tracked)
      return undefined
    },
    signal,
  )
}
