import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { DeployRun } from '../apply/deploy-run.ts'
import { isOfQuota, QuotaRefusals } from '../apply/quota.ts'
import { deleteObject } from '../apply/removal.ts'
import { requestReconcile } from '../apply/request-reconcile.ts'
import type { Step } from '../apply/steps.ts'
import { servicesBehind } from '../endpoints/routes.ts'
import { RETRY_FIELD_MANAGER, SERVICE_LABEL } from '../labels.ts'
import type { Changes } from '../plan/changes.ts'
import {
  type DesiredObject,
  type DesiredState,
  type DesiredWorkload,
  nameOf,
  serviceOf,
} from '../plan/desired-state.ts'
import { SHORT } from '../status/failures.ts'
import { isProbed } from '../status/problems.ts'
import { hasAttempts, withPatience } from './patience.ts'
import { ReadinessBarrier } from './readiness-barrier.ts'
import { isReached, type WorkloadStatus } from './status.ts'
import { type ObservedWorkload, WorkloadDeleted } from './tracker.ts'

/** Error with the workloads that were not ready at the deadline. */
export class RolloutTimeout extends Error {
  readonly late: readonly WorkloadFailed[]

  constructor(late: readonly WorkloadFailed[], reason: unknown) {
    super('timed out', { cause: reason })
    this.late = late
  }
}

/**
 * Error for a workload that does not reach the desired state; `tracked` contains the reason. `blocker` is the error
 * about the old object if that was not deleted before the deadline.
 */
export class WorkloadFailed extends Error {
  readonly workload: DesiredWorkload
  readonly tracked: ObservedWorkload
  readonly blocker: UserError | undefined

  constructor(workload: DesiredWorkload, tracked: ObservedWorkload, blocker?: UserError) {
    super(`\`${workload.service}\` does not start`)
    this.workload = workload
    this.tracked = tracked
    this.blocker = blocker
  }
}

export interface RolloutOptions {
  readonly steps: Changes['steps']
  /** Applies one step, and returns the resulting object. */
  readonly apply: (step: Step) => Promise<KubeObject>
  /**
   * True to wait until all workloads are ready at the same time; if false, the rollout waits only for workloads that
   * others depend on.
   */
  readonly wait: boolean
}

/**
 * Milliseconds that other workloads get after one has failed, so that failures with the same cause are reported
 * together, without waiting for the rest.
 */
const GRACE = 3000

/**
 * Applies each workload when its dependencies have met their conditions, all in parallel, and each route when its
 * services are ready. With `wait`, it returns when all workloads are ready at the same time, and have stayed ready for
 * as long as `StabilityWindow` requires. Throws the failures of all workloads that failed.
 */
export async function rollOut(run: DeployRun, wanted: DesiredState, options: RolloutOptions): Promise<void> {
  const others = new AbortController()
  const rollout = new Rollout(run, wanted, options, AbortSignal.any([run.signal, others.signal]))
  const stopped = new Error('something else has failed')
  let forget: (() => void) | undefined
  const all = rollout.start()
  for (const one of all)
    one.catch(() => {
      forget ??= run.clock.every(GRACE, () => others.abort(stopped))
    })
  const failures = new Set<unknown>()
  for (const result of await Promise.allSettled(all)) if (result.status === 'rejected') failures.add(result.reason)
  forget?.()
  failures.delete(stopped)
  rollout.end()
  if (
    run.signal.aborted &&
    failures.has(run.signal.reason) &&
    ![...failures].some(one => one instanceof WorkloadFailed)
  ) {
    const late = rollout.late()
    if (late.length > 0) throw new RolloutTimeout(late, run.signal.reason)
  }
  // Failures are reported. The objects that failed workloads should have replaced stay, and a later deploy prunes them.
  if (failures.size > 1) throw new AggregateError([...failures].map(one => rollout.blocked.get(one) ?? one))
  for (const failure of failures) throw failure
}

/** Annotation with the time of the last requested retry for rejected Pods. */
const TRIED = 'dev.platform/tried'

/**
 * Result of a check of a workload: `done` if the wanted state is reached, `well` if the workload is ready but still
 * watched, undefined in all other cases.
 */
type Look = 'done' | 'well' | undefined

class Rollout {
  /** Workloads whose old object was not deleted before the deadline, by the error of the deletion. */
  readonly blocked = new Map<unknown, WorkloadFailed>()
  readonly #run: DeployRun
  readonly #wanted: DesiredState
  readonly #options: RolloutOptions
  readonly #signal: AbortSignal
  readonly #together: ReadinessBarrier
  readonly #byService: ReadonlyMap<string, DesiredWorkload>
  /** Applied workload of each service; for a job with several schedules, the last of its CronJobs. */
  readonly #applied = new Map<string, Promise<KubeObject>>()
  readonly #objects = new Map<DesiredWorkload, KubeObject>()
  /** Jobs that may be servers, each with the workload that waits for its completion. */
  readonly #completing = new Map<DesiredWorkload, DesiredWorkload>()
  /** Services that were already reported as waiting for other workloads. */
  readonly #reported = new Set<string>()
  /** Last reported status of each service. */
  readonly #statuses = new Map<string, string>()
  /** UIDs of Pods that the rollout has deleted, because no controller would have replaced them. */
  readonly #released = new Set<string | undefined>()

  constructor(run: DeployRun, wanted: DesiredState, options: RolloutOptions, signal: AbortSignal) {
    this.#run = run
    this.#wanted = wanted
    this.#options = options
    this.#signal = signal
    this.#byService = new Map(wanted.workloads.map(workload => [workload.service, workload]))
    this.#together = new ReadinessBarrier(this.#byService.keys(), services => run.events.watching(services))
  }

  /** Starts the rollout, and returns one promise for each workload and route. */
  start(): readonly Promise<void>[] {
    const { wait } = this.#options
    // Workloads start in dependency order: each after its dependencies have started.
    const applied = this.#wanted.workloads.map(workload => {
      const one = this.#apply(workload)
      this.#applied.set(workload.service, one)
      return { workload, one }
    })
    const workloads = applied.map(async ({ workload, one }) => {
      const object = await one
      if (wait) await this.#stay(workload, object)
    })
    return [...workloads, ...this.#wanted.after.map(route => this.#route(route))]
  }

  /** Reports the final status of workloads that the rollout waited for earlier. */
  end(): void {
    for (const [workload, object] of this.#objects) {
      const tracked = this.#waitedFor(workload, object)
      if (tracked) this.#tell(workload, shownOf(tracked))
    }
  }

  /** Returns the workloads that the rollout waited for and that are not ready, or that were not applied in time. */
  late(): readonly WorkloadFailed[] {
    return [...this.blocked.values(), ...this.#serving(), ...this.#notReady()]
  }

  /** Returns the Jobs that run like servers although another workload waits for their completion. */
  #serving(): readonly WorkloadFailed[] {
    return [...this.#completing].flatMap(([workload, waits]) => {
      const object = this.#objects.get(workload)
      const tracked = object && this.#run.tracker.now(object)
      if (!tracked?.hasReadyPods || tracked.status.state === 'complete') return []
      this.#tell(workload, { state: 'waiting', text: 'Job running, not complete' })
      if (isServing(workload, tracked)) return [new WorkloadFailed(workload, servingForever(tracked, waits))]
      return [new WorkloadFailed(workload, { ...tracked, status: { state: 'waiting', text: servingText(waits) } })]
    })
  }

  #notReady(): readonly WorkloadFailed[] {
    return [...this.#objects].flatMap(([workload, object]) => {
      const tracked = this.#waitedFor(workload, object)
      return tracked && !isReady(tracked) ? [new WorkloadFailed(workload, tracked)] : []
    })
  }

  /** Returns the current state of a workload that the rollout waited for; undefined for others. */
  #waitedFor(workload: DesiredWorkload, object: KubeObject): ObservedWorkload | undefined {
    const seen = this.#statuses.has(workload.service) ? this.#run.tracker.now(object) : undefined
    return seen && this.#judged(workload, seen)
  }

  /**
   * Returns the state of a workload. A server Job counts as ready when its Pods are ready, and failures count as
   * temporary if a dependency has only just become ready.
   */
  #judged(workload: DesiredWorkload, seen: ObservedWorkload): ObservedWorkload {
    const tracked = asServer(workload, seen)
    if (!hasAttempts(tracked)) return tracked
    const stateOf = (name: string, judge: (one: DesiredWorkload, seen: ObservedWorkload) => ObservedWorkload) => {
      const one = this.#byService.get(name)
      const object = one && this.#objects.get(one)
      const found = object && this.#run.tracker.now(object)
      return one && found ? [judge(one, found)] : []
    }
    const needed = workload.dependencies.flatMap(({ service }) => stateOf(service, (...one) => this.#judged(...one)))
    const beside = (workload.beside ?? []).flatMap(name => stateOf(name, asServer))
    return withPatience(tracked, [...needed, ...beside])
  }

  async #apply(workload: DesiredWorkload): Promise<KubeObject> {
    const step = this.#options.steps.get(workload)!
    const isThere = step.action === 'unchanged'
    const needs = workload.dependencies.filter(({ service }) => this.#applied.has(service))
    // An unchanged workload does not wait for its dependencies.
    if (isThere) this.#isThere(workload, step.live)
    else if (needs.length > 0 && !this.#reported.has(workload.service)) {
      // A job with several schedules has several CronJobs.
      this.#reported.add(workload.service)
      this.#run.events.waiting(
        workload.service,
        needs.map(({ service }) => service),
      )
    }
    await Promise.all(
      needs.map(async ({ service, condition }) => {
        const object = await this.#applied.get(service)!
        const needed = this.#byService.get(service)!
        if (needed.isServer && condition === 'service_completed_successfully') this.#completing.set(needed, workload)
        await this.#look(needed, object, tracked =>
          isReached(condition, tracked.status, tracked.hasStartedPod) ? 'done' : undefined,
        )
      }),
    )
    if (isThere) return step.live
    const object = await this.#options.apply(step).catch(error => {
      if (this.#isBlocked(error))
        this.blocked.set(error, new WorkloadFailed(workload, notApplied(workload.object, error), error))
      throw error
    })
    this.#isThere(workload, object)
    return object
  }

  /** True if an error names an object that was not deleted before the deadline. */
  #isBlocked(error: unknown): error is UserError {
    const { aborted, reason } = this.#run.signal
    return aborted && error instanceof UserError && error.cause === reason
  }

  #isThere(workload: DesiredWorkload, object: KubeObject): void {
    this.#objects.set(workload, object)
    this.#run.events.applied(workload.service)
  }

  /** Watches a workload until all workloads are ready at the same time. */
  async #stay(workload: DesiredWorkload, object: KubeObject): Promise<void> {
    const together = this.#together
    try {
      await this.#look(
        workload,
        object,
        tracked => {
          const isWell = isReady(tracked)
          if (isWell) this.#tell(workload, tracked.status)
          together.set(workload.service, !isWell ? 'waiting' : tracked.isStable ? 'stable' : 'ready')
          return isWell ? 'well' : undefined
        },
        together.signal,
      )
    } catch (error) {
      if (error !== together.signal.reason) throw error
    }
  }

  /** Applies a new route when one of its services is ready, and a changed route when all of them are. */
  async #route(route: DesiredObject): Promise<void> {
    const step = this.#options.steps.get(route)!
    const mayBe = step.action === 'unchanged' || (await this.#isReachable(this.#workloadsBehind(route), step.action))
    if (!mayBe) return
    await this.#options.apply(step)
    this.#run.events.routed(route.object)
  }

  /**
   * Resolves with true when the route may point to the workloads in `behind`: a new route when one of the workloads is
   * ready, a changed route when all of them are. Without `wait`, an applied workload counts as ready. Resolves with
   * false if workloads that the route needs have failed; the promises of the workloads reject with the failures.
   */
  async #isReachable(behind: readonly DesiredWorkload[], action: Step['action']): Promise<boolean> {
    if (behind.length === 0) {
      // The workloads behind the route are not known, so wait until everything is applied.
      await Promise.allSettled(this.#applied.values())
      return true
    }
    const ready = behind.map(one => this.#ready(one))
    return (action === 'create' ? Promise.any(ready) : Promise.all(ready)).then(
      () => true,
      () => false,
    )
  }

  async #ready(workload: DesiredWorkload): Promise<void> {
    const object = await this.#applied.get(workload.service)!
    if (this.#options.wait) await this.#look(workload, object, tracked => (isReady(tracked) ? 'done' : undefined))
  }

  #workloadsBehind({ object }: DesiredObject): readonly DesiredWorkload[] {
    const names = new Set(servicesBehind(object))
    const leads = this.#wanted.before
      .filter(({ object }) => object.kind === 'Service' && names.has(object.metadata.name))
      .map(({ object }) => serviceSelectedBy(object) ?? serviceOf(object))
    return [...new Set(leads)].flatMap(lead => (lead === undefined ? [] : (this.#byService.get(lead) ?? [])))
  }

  /**
   * Watches a workload until `check` returns `done`. Throws WorkloadFailed as soon as waiting cannot help, or the abort
   * reason if `until` is aborted.
   */
  async #look(
    workload: DesiredWorkload,
    applied: KubeObject,
    check: (tracked: ObservedWorkload) => Look,
    until?: AbortSignal,
  ): Promise<void> {
    let failure: unknown
    const fail = (error: unknown) => {
      failure = error
    }
    let refusals: QuotaRefusals | undefined
    const isPassing = ({ object, problems, status }: ObservedWorkload): boolean => {
      const definite = problems.filter(one => !one.isPassing)
      if (status.state === 'failed' || !definite.every(isOfQuota)) return false
      const { clock, cluster, signal } = this.#run
      const now = clock.now()
      refusals ??= new QuotaRefusals(now)
      const next = refusals.judge(definite, now)
      if (next === 'try')
        requestReconcile(cluster, object, { annotation: TRIED, manager: RETRY_FIELD_MANAGER, now }, { signal }).catch(
          fail,
        )
      return next !== 'failed'
    }
    const looking = this.#run.tracker.until(
      applied,
      seen => {
        if (failure) throw failure
        const tracked = seen && this.#judged(workload, seen)
        if (!tracked) return undefined
        for (const pod of tracked.stuck) this.#release(pod, fail)
        const found = check(tracked)
        const status = found ? tracked.status : shownOf(tracked)
        this.#tell(workload, status)
        if (found === 'done') return true
        // A retry changes the generation, so for a moment no problem is known. That alone must not reset the retries.
        if (found === 'well') refusals = undefined
        else if (status.state === 'failed' && !this.#run.toleratesFailures && !isPassing(tracked))
          throw new WorkloadFailed(workload, tracked)
        return undefined
      },
      until ? AbortSignal.any([this.#signal, until]) : this.#signal,
    )
    await looking.catch(error => {
      if (error instanceof WorkloadDeleted) this.#lose(workload)
      throw error
    })
  }

  /** Reports a workload as deleted, even if it was ready before. */
  #lose(workload: DesiredWorkload): void {
    this.#tell(workload, { state: 'failed', text: `${workload.object.kind} was deleted` })
    this.#objects.delete(workload)
  }

  #tell({ service }: DesiredWorkload, status: WorkloadStatus): void {
    const text = `${status.state} ${status.text}`
    if (this.#statuses.get(service) === text) return
    this.#statuses.set(service, text)
    this.#run.events.status(service, status)
  }

  /** Deletes a Pod that no controller replaces. Calls `fail` if the deletion fails. */
  #release(pod: KubeObject, fail: (error: unknown) => void): void {
    const { uid } = pod.metadata
    if (this.#released.has(uid)) return
    this.#released.add(uid)
    const { cluster, events, signal } = this.#run
    deleteObject(cluster, pod, 'Background', { signal }).then(
      wasThere => wasThere && events.done('delete', nameOf(pod)),
      fail,
    )
  }
}

/** Returns the state of a workload whose old object blocks the new one. */
const notApplied = (object: KubeObject, { message }: UserError): ObservedWorkload => ({
  object,
  status: { state: 'waiting', text: message },
  ...{ isStable: false, hasStartedPod: false, hasReadyPods: false },
  ...{ pods: [], stuck: [], problems: [], warnings: [] },
})

const isReady = ({ status }: ObservedWorkload): boolean => status.state === 'ready' || status.state === 'complete'

/** Returns the state of a workload, with a server Job counted as ready when its Pods are ready. */
function asServer({ isServer }: DesiredWorkload, tracked: ObservedWorkload): ObservedWorkload {
  if (!isServer || tracked.status.state !== 'waiting' || !tracked.hasReadyPods) return tracked
  return { ...tracked, status: { state: 'ready', text: 'Job ready, and running: it is a server' } }
}

/**
 * Returns true if a Job that may be a server is ready according to a health check. Only servers pass health checks: a
 * program that is expected to end has none.
 */
const isServing = ({ isServer }: DesiredWorkload, { hasReadyPods, pods, status }: ObservedWorkload): boolean =>
  isServer === true && status.state !== 'complete' && hasReadyPods && pods.every(isProbed)

function servingForever(tracked: ObservedWorkload, waits: DesiredWorkload): ObservedWorkload {
  const { kind, metadata } = tracked.object
  const detail = `\`${waits.service}\``
  const where = `${kind.toLowerCase()}/${metadata.name}`
  return { ...tracked, problems: [{ code: 'serves', where, pod: tracked.pods[0], container: undefined, detail }] }
}

const servingText = ({ service }: DesiredWorkload): string =>
  `it runs, and \`${service}\` waits for it to complete; it has ports, and a server never completes: if it is one, let it restart always, and let \`${service}\` wait with \`condition: service_healthy\``

/**
 * Returns the status to show for a workload. A problem is shown at once, because the result of the other workloads may
 * take some time. A workload whose problems may resolve themselves has not failed, even if its controller reports no
 * progress.
 */
function shownOf(tracked: ObservedWorkload): WorkloadStatus {
  const problem = tracked.problems.find(one => !one.isPassing) ?? tracked.problems[0]
  if (!problem || isReady(tracked)) return tracked.status
  return { state: problem.isPassing ? 'waiting' : 'failed', text: SHORT[problem.code] }
}

function serviceSelectedBy({ spec }: KubeObject): string | undefined {
  const { selector } = (spec ?? {}) as { readonly selector?: Readonly<Record<string, string>> } // a Service's spec
  return selector?.[SERVICE_LABEL]
}
