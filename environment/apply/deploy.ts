import type { Cluster, KubeObject, ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { Clock } from '../clock.ts'
import { type Changes, isUpToDate, planChanges, refuseManyDeletions } from '../plan/changes.ts'
import type { Choices } from '../plan/choices.ts'
import { type DesiredState, nameOf, toDesiredState } from '../plan/desired-state.ts'
import { type Drift, driftOf, isByHand } from '../plan/drift.ts'
import { refuseEndingNamespace } from '../plan/namespace.ts'
import { ObjectsMissing, refuseDeleted } from '../plan/verify-objects-exist.ts'
import {
  type ChangeOrigin,
  changeKey,
  type DeployEnd,
  recordedChanges,
  withChangeList,
  withEnding,
} from '../record/change-lists.ts'
import { applicationText, readApplication } from '../record/deployed-application.ts'
import {
  type EnvironmentRecord,
  isOvertaken,
  readRecord,
  recordRef,
  type Source,
  writeRecord,
} from '../record/record.ts'
import { type KeptSecrets, keptRef, markSecrets, newKey, readKept, writeKept } from '../record/secret-marks.ts'
import { RolloutTimeout, WorkloadFailed } from '../rollout/rollout.ts'
import { Tracker, WorkloadDeleted } from '../rollout/tracker.ts'
import { explainFailure } from '../status/explain.ts'
import { applyChanges, applyWorkloads, type EndNotes, recordBefore, recordEnd } from './apply.ts'
import type { ApplyEvents, DeployRun } from './deploy-run.ts'
import { deployerOf, type Holder } from './held-lease.ts'
import { isLocked, withLease } from './lease.ts'
import { countRetries, findUnreadyWorkloads, type UnreadyWorkload, withJobsAgain } from './retry-stuck.ts'

/** Plan to deploy, and its target. */
export interface Deployment {
  readonly cluster: Cluster
  readonly plan: Plan
  /** Renders the objects of a plan. */
  readonly synth: (plan: Plan) => readonly Manifest[]
  readonly namespace: string
  readonly source: Source
  readonly choices: Choices
}

export interface DeployEnvironmentInput extends Deployment {
  /** Services of the Compose file, for the positions in error messages. */
  readonly services: Tree | undefined
  readonly holder: Holder
  /**
   * True to wait until every workload is ready; if false, the deploy waits only for workloads that others depend on.
   */
  readonly wait: boolean
  /** True if the deploy continues to wait after a failure, until the workloads are ready or the deadline has passed. */
  readonly toleratesFailures?: boolean
  /** True if the caller already holds the environment's Lease. */
  readonly isHeld?: boolean
  /** Known secrets, which are masked in differences. */
  readonly secrets?: KnownSecrets | undefined
  /** Hashes of the warnings that were reported, to be stored in the record. */
  readonly warnings?: readonly string[]
  /** Origin of this deploy, for the history of the environment. */
  readonly origin?: DeployOrigin | undefined
}

/** Origin of the deployed files. */
export interface DeployOrigin {
  /** Returns the path of a file relative to the top of its repository; undefined for a file outside the repository. */
  shownFile(location: string): string | undefined
  /**
   * Facts about the commit, known before the first object is changed; marked as unchecked, because a check for
   * uncommitted changes takes longer. Never rejects.
   */
  readonly commit: Promise<ChangeOrigin>
  /** Facts about the commit after the check for uncommitted changes, which takes longer. Never rejects. */
  readonly change: Promise<ChangeOrigin>
}

export interface DeployEvents extends ApplyEvents {
  /** Called with the planned changes, before the first of them is made. */
  planned(changes: Changes, wanted: DesiredState): void
  /** Called when another process holds the Lease because it is deploying, or died while deploying. */
  locked(holder: string): void
  /**
   * Returns true if the given manual changes may be overwritten. If the function is absent, manual changes are
   * overwritten.
   */
  mayOverwrite?(drift: readonly Drift[]): Promise<boolean>
  /** Called when values set by others are overwritten without asking. */
  overwriting?(drift: readonly Drift[]): void
}

export interface DeployContext {
  readonly clock: Clock
  readonly events: DeployEvents
  readonly signal: AbortSignal
}

export interface DeployResult {
  /** True if there was nothing to change. */
  readonly isUpToDate: boolean
  /** Names of the deleted objects, such as `deployment/web`. */
  readonly pruned: readonly string[]
  /** Errors about workloads that failed to start; empty if all started. */
  readonly failures: readonly Diagnostic[]
  /**
   * Reason why the deploy ended early, the deadline or Ctrl-C; absent if it did not end early. `failures` then
   * describes the workloads that were not ready.
   */
  readonly ended?: unknown
  /** Ingresses and HTTPRoutes that have been applied; after a failure, only the routes of ready services. */
  readonly routes: readonly KubeObject[]
  /** Workloads that the deploy does not change and that were not ready when the deploy started. */
  readonly unready: readonly UnreadyWorkload[]
}

/** Changes that a deploy would make, and the objects to change. */
export interface DeployPlan {
  readonly wanted: DesiredState
  readonly changes: Changes
  /** True if another process holds the Lease because it is deploying, or died while deploying. */
  readonly isLocked: boolean
  /** Secrets to store before anything is applied; undefined if they are already stored. */
  readonly toKeep: KeptSecrets | undefined
  /** True if devctl stores a Secret for the environment, in addition to the Secrets of the files. */
  readonly keepsSecret: boolean
}

/**
 * Brings an environment to the state of its plan: finds the differences and applies only these, while holding the
 * environment's Lease. Throws a UserError if the cluster rejects an object, or the abort reason if the signal was
 * aborted.
 */
export async function deployEnvironment(input: DeployEnvironmentInput, world: DeployContext): Promise<DeployResult> {
  const { cluster, plan, namespace, holder } = input
  const { clock, events, signal } = world
  const environment = plan.environment.name
  const first = await planAllowed(input, world)
  const { unready } = first
  const begun = unready.flatMap(one => one.begun)
  const tracker = new Tracker(cluster, environment, namespace, clock, begun)
  const runUntil = (active: AbortSignal): DeployRun => ({
    cluster,
    tracker,
    events: { ...events, routed: route => routes.push(route) },
    clock,
    by: deployerOf(input),
    signal: active,
    ...(input.toleratesFailures && { toleratesFailures: true }),
  })
  const routes: KubeObject[] = []
  const upToDate =
    isUpToDate(first.changes) &&
    !first.toKeep &&
    countRetries(unready).length === 0 &&
    (input.isHeld || !first.isLocked)
  try {
    if (upToDate && input.wait) await applyWorkloads(runUntil(signal), first.wanted, first.changes.steps, true)
    const lease = { cluster, environment, namespace, holder, clock, signal, waiting: events.locked }
    const act = (active: AbortSignal) => {
      const planAgain = () => planAllowed(input, { ...world, signal: active }, first.drift)
      return perform(input, runUntil(active), first, planAgain)
    }
    if (upToDate) await keepWarnings(input, first, { signal })
    const pruned = upToDate ? [] : await (input.isHeld ? act(signal) : withLease(lease, act))
    if (input.wait)
      await Promise.all([
        refuseDeleted(cluster, environment, neededAtEnd(first), { signal }),
        // Objects in a terminating namespace may still exist, so the namespace is checked separately.
        refuseEndingNamespace(cluster, namespace, { signal }),
      ])
    const all = first.wanted.after.map(({ object }) => object)
    return { isUpToDate: upToDate, pruned, failures: [], routes: all, unready }
  } catch (error) {
    const deleted = errorsIn(error).filter(one => one instanceof WorkloadDeleted || one instanceof ObjectsMissing)
    if (deleted.length > 0) {
      // Their namespace may have been deleted with them: then that is the error to report.
      await refuseEndingNamespace(cluster, namespace, { signal })
      throw deleted.length === 1 ? deleted[0] : new AggregateError(deleted)
    }
    const ended = endedEarly(error)
    const failed = ended ? ended.late : failuresIn(error, signal)
    if (!failed) throw beyondWorkloads(error)
    const explained = await Promise.all(
      failed.map(one => explainFailure(cluster, one, input.services, input.plan.requiredSecrets)),
    )
    return {
      isUpToDate: false,
      pruned: [],
      failures: explained.flat(),
      routes,
      unready,
      ...(ended && { ended: ended.cause }),
    }
  } finally {
    tracker.stop()
  }
}

/** Plan that the limits and the user allow. */
interface AllowedPlan extends DeployPlan {
  /** Workloads that the deploy does not change and that are not ready. */
  readonly unready: readonly UnreadyWorkload[]
  /** Values set by others that the deploy overwrites. */
  readonly drift: readonly Drift[]
}

/**
 * Plans a deploy, and reports the plan. Throws a UserError if the deploy would delete too many workloads, or if the
 * user keeps manual changes. The user is not asked again about the changes in `known`.
 */
async function planAllowed(
  input: DeployEnvironmentInput,
  { clock, events, signal }: DeployContext,
  known: readonly Drift[] = [],
): Promise<AllowedPlan> {
  const planned = await planDeploy(input, { signal })
  const { wanted } = planned
  const { steps } = planned.changes
  const unready = await findUnreadyWorkloads(input.cluster, wanted, steps, clock.now(), { signal })
  const changes = { ...planned.changes, steps: withJobsAgain(steps, unready) }
  refuseManyDeletions(changes, input.choices)
  events.planned(changes, wanted)
  const drift = driftOf(changes, input.secrets)
  const old = new Set(known.map(one => JSON.stringify(one)))
  const fresh = drift.filter(one => !old.has(JSON.stringify(one)))
  await mayOverwrite(events, fresh)
  return { ...planned, changes, unready, drift }
}

/** Asks about manual changes, and reports the other values that are overwritten. Throws a UserError after a no. */
async function mayOverwrite(events: DeployEvents, drift: readonly Drift[]): Promise<void> {
  const asked = events.mayOverwrite ? drift.filter(isByHand) : []
  if (asked.length > 0 && !(await events.mayOverwrite?.(asked)))
    throw new UserError('nothing was deployed: manual changes are kept', {
      hint: 'make the changes in the files, or overwrite them with `--drift overwrite`',
    })
  const told = drift.filter(one => !asked.includes(one))
  if (told.length > 0) events.overwriting?.(told)
}

/**
 * Returns the objects that must exist at the end of a deploy and are not watched like workloads: the objects that
 * workloads need, the routes, and devctl's own objects.
 */
function neededAtEnd({ wanted, keepsSecret }: DeployPlan): readonly ObjectRef[] {
  const { environment, namespace } = wanted
  return [
    ...[...wanted.before, ...wanted.after].map(({ object: { apiVersion, kind, metadata } }) => ({
      apiVersion,
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
    })),
    recordRef(environment, namespace),
    ...(keepsSecret ? [keptRef(environment, namespace)] : []),
  ]
}

/**
 * Finds out what a deploy would change, without changing anything. Throws a UserError if the cluster would reject an
 * object.
 */
export async function planDeploy(
  { cluster, plan, synth, namespace, source, choices }: Deployment,
  { signal }: { readonly signal: AbortSignal },
): Promise<DeployPlan> {
  const options = { signal }
  const environment = plan.environment.name
  const needsKey = plan.secrets.length > 0
  const [recorded, kept] = await Promise.all([
    readRecord(cluster, environment, namespace, options),
    needsKey ? readKept(cluster, environment, namespace, options) : undefined,
    refuseEndingNamespace(cluster, namespace, options),
  ])
  const key = kept?.key ?? newKey()
  const wanted = toDesiredState(plan, synth(needsKey ? markSecrets(plan, key) : plan), namespace)
  const [changes, locked] = await Promise.all([
    planChanges(cluster, wanted, { recorded, source, choices }, options),
    // The first deploy of an environment always has changes to make, and checks the Lease when it acquires it.
    recorded !== undefined && isLocked(cluster, environment, namespace, options),
  ])
  const toKeep = needsKey && (!kept || kept.isEnding) ? { key, variables: kept?.variables ?? {} } : undefined
  return { wanted, changes, isLocked: locked, toKeep, keepsSecret: needsKey }
}

/** Writes the warnings into the record of an environment in which nothing else changes. */
async function keepWarnings(
  { cluster, namespace, warnings = [] }: DeployEnvironmentInput,
  { wanted, changes: { recorded } }: DeployPlan,
  options: { readonly signal: AbortSignal },
): Promise<void> {
  if (!recorded || warnings.join(' ') === (recorded.warnings ?? []).join(' ')) return
  try {
    await writeRecord(cluster, wanted.environment, namespace, { ...recorded, warnings }, options)
  } catch (error) {
    // Another deploy has written the record, with its own warnings.
    if (!isOvertaken(error)) throw error
  }
}

/**
 * Carries out the plan in `first`, or the result of `planAgain` if the record has changed since that plan was made.
 * Returns the names of the pruned objects.
 */
async function perform(
  input: DeployEnvironmentInput,
  run: DeployRun,
  first: AllowedPlan,
  planAgain: () => Promise<AllowedPlan>,
): Promise<readonly string[]> {
  const { cluster, namespace } = input
  const { current, recorded } = await begin(input, run, first, planAgain)
  const { wanted, changes, toKeep } = current
  const { noting, done } = withNotes(run)
  const notesOn = async (end?: DeployEnd): Promise<EndNotes> => {
    const origin = input.origin?.change
    // An interruption leaves no time to wait for it.
    const known = await (run.signal.aborted ? Promise.race([origin, undefined]) : origin)
    const history = recorded.history && withEnding(recorded.history, { ...(end && { end }), done, origin: known })
    return history === undefined ? {} : { history }
  }
  try {
    if (toKeep) await writeKept(cluster, wanted.environment, namespace, toKeep, { signal: run.signal })
    const chances = countRetries(current.unready)
    const orders = { wait: input.wait, chances, notesAfter: () => notesOn() }
    await applyChanges(noting, wanted, changes, recorded, orders)
  } catch (error) {
    await recordEnd(run, wanted, { ...recorded, ...(await notesOn(endOf(run.signal))) })
    throw error
  }
  return [...changes.pruneFirst, ...changes.prune].map(nameOf)
}

/**
 * Returns a copy of the run (`noting`), and a set of keys (`done`). Each change that the copy makes adds its key to the
 * set, in the format of `changeKey`.
 */
function withNotes(run: DeployRun): { readonly noting: DeployRun; readonly done: ReadonlySet<string> } {
  const done = new Set<string>()
  const events: ApplyEvents = {
    ...run.events,
    done(action, object) {
      done.add(changeKey(action, object))
      run.events.done(action, object)
    },
    deleting(object) {
      done.add(changeKey('delete', object))
    },
  }
  return { noting: { ...run, events }, done }
}

/**
 * Returns `failed` after an error or at the deadline, and `interrupted` if the signal was aborted for another reason,
 * such as Ctrl-C or another process taking the Lease.
 */
const endOf = ({ aborted, reason }: AbortSignal): DeployEnd =>
  aborted && (reason as Partial<Error> | undefined)?.name !== 'TimeoutError' ? 'interrupted' : 'failed'

/**
 * Writes the record before the first change. Returns the written record and the plan to carry out: `first`, or the
 * result of `planAgain` if another process has changed the record since `first` was computed.
 */
async function begin(
  input: DeployEnvironmentInput,
  run: DeployRun,
  first: AllowedPlan,
  planAgain: () => Promise<AllowedPlan>,
): Promise<{ readonly current: AllowedPlan; readonly recorded: EnvironmentRecord }> {
  const record = async (plan: DeployPlan) =>
    recordBefore(run, plan.wanted, plan.changes, await notesOf(input, run, plan))
  try {
    return { current: first, recorded: await record(first) }
  } catch (error) {
    if (!isOvertaken(error)) throw error
    // Another deploy finished between our plan and our Lease: plan again with its changes.
    const current = await planAgain()
    return { current, recorded: await record(current) }
  }
}

/** Returns the parts of the record that describe this deploy: the application, the changes and the warnings. */
async function notesOf(
  { plan, services, choices, secrets, warnings = [], origin }: DeployEnvironmentInput,
  { by, clock }: DeployRun,
  { wanted, changes }: DeployPlan,
): Promise<Pick<EnvironmentRecord, 'application' | 'history' | 'warnings'>> {
  const { recorded } = changes
  const before = choices.isPart ? readApplication(recorded?.application) : undefined
  const application = applicationText(
    { plan, wanted, services, shownFile: location => origin?.shownFile(location) },
    before,
  )
  const history = withChangeList(recorded?.history, {
    by,
    at: new Date(clock.now()).toISOString(),
    // Uses the change only if it is known already; the end of the deploy reads it again.
    ...(await (origin && Promise.race([origin.change, origin.commit]))),
    end: 'unknown',
    ...recordedChanges(changes, secrets),
  })
  return { history, warnings, ...(application !== undefined && { application }) }
}

/**
 * Returns a RolloutTimeout, which contains the workloads that were not ready at the deadline; undefined for another
 * error. Throws the abort reason after Ctrl-C, because the user does not want to wait for the logs.
 */
export function endedEarly(error: unknown): RolloutTimeout | undefined {
  if (!(error instanceof RolloutTimeout)) return undefined
  if ((error.cause as Error).name !== 'TimeoutError') throw error.cause
  return error
}

/**
 * Returns the workloads that failed, each once; undefined if no workload failed, or if there is an error other than the
 * abort of `signal`. The abort itself is ignored, because the failed workloads explain more.
 */
export function failuresIn(error: unknown, signal: AbortSignal): readonly WorkloadFailed[] | undefined {
  const byService = new Map<string, WorkloadFailed>()
  for (const one of errorsIn(error)) {
    if (one instanceof WorkloadFailed) {
      if (!byService.has(one.workload.service)) byService.set(one.workload.service, one)
    } else if (!isOf(signal, one)) return undefined
  }
  return byService.size > 0 ? [...byService.values()] : undefined
}

/** True if an error is the signal's abort reason, or was caused by it. */
const isOf = (signal: AbortSignal, error: unknown): boolean =>
  signal.aborted && (error === signal.reason || (error instanceof Error && error.cause === signal.reason))

/**
 * Returns the errors that are not about failed workloads; the unchanged error if there are none. A rejected object, for
 * example, is more important, and the next deploy reports the failed workloads again.
 */
export function beyondWorkloads(error: unknown): unknown {
  const others = errorsIn(error).filter(one => !(one instanceof WorkloadFailed))
  return others.length === 1 ? others[0] : others.length > 1 ? new AggregateError(others) : error
}

const errorsIn = (error: unknown): readonly unknown[] => (error instanceof AggregateError ? error.errors : [error])
