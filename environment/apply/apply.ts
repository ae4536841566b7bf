import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { MANAGER } from '../labels.ts'
import { isDeclaredElsewhere, noteAdoption, takeOverFields } from '../plan/adoption.ts'
import type { Changes } from '../plan/changes.ts'
import { type DesiredObject, type DesiredState, nameOf, serviceOf } from '../plan/desired-state.ts'
import { webhookRefusal } from '../plan/webhook-refusal.ts'
import { inParallel } from '../pool.ts'
import { type EnvironmentRecord, sameKinds, unitedKinds, writeRecord } from '../record/record.ts'
import { rollOut } from '../rollout/rollout.ts'
import { podProblems } from '../status/problems.ts'
import type { DeployRun } from './deploy-run.ts'
import { applyToStay, deleteAndWait, deleteObject, gone, isEnding } from './removal.ts'
import { retryStuckWorkload, type UnreadyWorkload } from './retry-stuck.ts'
import type { Step } from './steps.ts'
import { keepReplicas } from './suspended.ts'

/**
 * Writes the record before anything else is changed. The record lists all kinds, old and new, so that no object is lost
 * track of after a crash, and describes what is deployed and what changes. Returns the record as written; throws like
 * `writeRecord`.
 */
export async function recordBefore(
  run: DeployRun,
  wanted: DesiredState,
  changes: Changes,
  notes: Pick<EnvironmentRecord, 'application' | 'history' | 'warnings'> = {},
): Promise<EnvironmentRecord> {
  const { recorded, record } = changes
  const all = { ...record, ...notes, kinds: unitedKinds(recorded?.kinds ?? [], record.kinds) }
  const { version, ending } = recorded ?? {}
  return write(run, wanted, { ...all, ...(version && { version }), ...(ending && { ending }) })
}

/** Options of `applyChanges`. */
export interface ApplyOrders {
  readonly wait: boolean
  readonly chances?: readonly UnreadyWorkload[]
  /** Returns the notes to write into the record when everything has been applied. */
  readonly notesAfter?: () => Promise<EndNotes>
}

/** Notes that a deploy adds to the record when it ends. */
export type EndNotes = Pick<EnvironmentRecord, 'history'>

/**
 * Carries out a plan: applies the configuration, then the workloads in dependency order, each route when its workloads
 * are ready, and finally deletes the objects that are no longer wanted. Then writes the final record: `recorded`, which
 * `recordBefore` returned, with the remaining kinds and the result of `notesAfter`. With `wait`, waits for every
 * workload. Throws the failures of all workloads that failed, without deleting anything.
 */
export async function applyChanges(
  run: DeployRun,
  wanted: DesiredState,
  changes: Changes,
  recorded: EnvironmentRecord,
  { wait, chances = [], notesAfter }: ApplyOrders,
): Promise<void> {
  const { cluster, signal, events } = run
  const { steps, record } = changes
  for (const object of changes.pruneFirst) {
    reportDeletion(run, object)
    await deleteAndWait(cluster, object, 'Foreground', { signal }, () => events.deleting?.(nameOf(object)))
    events.done('delete', nameOf(object))
  }
  // One kind after another, so that the order is the same in every deploy.
  for (const group of byKind(wanted.before)) await inParallel(group, one => applyStep(run, steps.get(one)!))
  const replaced = (pod: KubeObject) => events.done('delete', nameOf(pod))
  await inParallel(chances, one => retryStuckWorkload(cluster, one, run.clock.now(), { signal }, replaced))
  await applyWorkloads(run, wanted, steps, wait)
  await inParallel(changes.prune, async object => {
    await deleteObject(cluster, object, 'Background', { signal })
    events.done('delete', nameOf(object))
  })
  const notes = await notesAfter?.()
  if (!sameKinds(recorded.kinds, record.kinds)) await write(run, wanted, { ...recorded, ...notes, kinds: record.kinds })
  else if (notes) await recordEnd(run, wanted, { ...recorded, ...notes })
}

/**
 * Timeout for writing the record at the end of a deploy, in milliseconds: the deadline of the deploy may have passed
 * already.
 */
const LAST_WORDS = 5000

/** Writes the final record of a deploy, even after an interruption. Ignores errors. */
export async function recordEnd(
  { cluster }: DeployRun,
  wanted: DesiredState,
  record: EnvironmentRecord,
): Promise<void> {
  const { environment, namespace } = wanted
  const signal = AbortSignal.timeout(LAST_WORDS)
  await writeRecord(cluster, environment, namespace, record, { signal }).catch(() => undefined)
}

/** Applies the planned steps of workloads and routes, in the order of `rollOut`. */
export const applyWorkloads = (
  run: DeployRun,
  wanted: DesiredState,
  steps: Changes['steps'],
  wait: boolean,
): Promise<void> => rollOut(run, wanted, { steps, apply: step => applyStep(run, step), wait })

async function write(
  run: DeployRun,
  { environment, namespace }: DesiredState,
  record: EnvironmentRecord,
): Promise<EnvironmentRecord> {
  const whole = { ...record, deployed: { by: run.by, at: new Date(run.clock.now()).toISOString() } }
  const version = await writeRecord(run.cluster, environment, namespace, whole, { signal: run.signal })
  const { ending: _, ...written } = whole
  return { ...written, ...(version && { version }) }
}

function byKind(objects: readonly DesiredObject[]): readonly (readonly DesiredObject[])[] {
  const groups = new Map<string, DesiredObject[]>()
  for (const one of objects) groups.set(one.object.kind, [...(groups.get(one.object.kind) ?? []), one])
  return [...groups.values()]
}

function reportDeletion({ events }: DeployRun, object: KubeObject): void {
  const service = serviceOf(object)
  if (service !== undefined) events.status(service, { state: 'waiting', text: `deleting the old ${object.kind}` })
}

/** Applies one step, and returns the resulting object. */
async function applyStep(run: DeployRun, step: Step): Promise<KubeObject> {
  const { cluster, signal, events } = run
  if (step.action === 'unchanged') return step.live
  const options: CallOptions & { readonly signal: AbortSignal } = { signal }
  if (step.action === 'replace') {
    reportDeletion(run, step.live)
    const deleting = () => events.deleting?.(nameOf(step.live))
    if (isEnding(step.live)) await waitForEnd(run, step.live)
    else await deleteAndWait(cluster, step.live, step.orphan ? 'Orphan' : 'Foreground', { signal }, deleting)
  }
  if (step.action === 'update' && step.isAdopted && isDeclaredElsewhere(step.live))
    await takeOverFields(cluster, step.live, options)
  try {
    // Forces the apply, because the plan has already decided about the fields of other managers, or asked the user.
    const tell = (ending: KubeObject) => events.ending?.(ending)
    const object = await applyToStay(cluster, step.object, { ...options, manager: MANAGER, force: true }, tell)
    events.done(step.action, nameOf(object))
    if (step.action === 'update' && step.isAdopted) {
      const at = new Date(run.clock.now()).toISOString()
      await noteAdoption(cluster, object, { by: run.by, at }, { signal })
    }
    if (step.action === 'update' && step.replicasLater !== undefined)
      await keepReplicas(cluster, object, step.replicasLater, { signal })
    for (const pod of await freeStuckPods(cluster, step, run.clock.now(), { signal }))
      events.done('delete', `pod/${pod}`)
    return object
  } catch (error) {
    if (!(error instanceof ClusterError) || signal.aborted) throw error
    const name = `\`${nameOf(step.object)}\``
    const byWebhook = webhookRefusal(error, name, [`rendered from ${step.wanted.source}`])
    if (byWebhook) throw byWebhook
    if (isContact(error)) throw error
    throw new UserError(`${name} cannot be applied: ${error.message}`, { cause: error })
  }
}

/** Waits until the deletion of an object has finished. */
async function waitForEnd({ cluster, events, signal }: DeployRun, object: KubeObject): Promise<void> {
  events.ending?.(object)
  await gone(cluster, [object], signal)
}

/**
 * Deletes the broken Pods of a StatefulSet whose template has just changed. Its controller would wait forever for the
 * old Pods to become ready before it creates new ones
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback). Returns the names of the
 * deleted Pods.
 */
async function freeStuckPods(
  cluster: Cluster,
  step: Step,
  now: number,
  options: CallOptions,
): Promise<readonly string[]> {
  if (step.action !== 'update' || step.object.kind !== 'StatefulSet') return []
  if (!step.differences.some(({ keys }) => keys[0] === 'spec' && keys[1] === 'template')) return []
  const { namespace } = step.live.metadata
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels: selectorOf(step.live) }, options)
  const broken = pods.filter(pod => isPodOf(pod, step.live) && podProblems(pod, [], now).length > 0)
  await Promise.all(broken.map(pod => deleteObject(cluster, pod, 'Background', options)))
  return broken.map(({ metadata }) => metadata.name)
}

function selectorOf({ spec }: KubeObject): string {
  const { selector } = spec as { readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } } // a StatefulSet's spec
  return Object.entries(selector?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}

const isPodOf = ({ metadata }: KubeObject, { metadata: { uid } }: KubeObject): boolean =>
  metadata.ownerReferences?.some(owner => owner.uid === uid) ?? false

/** True if the error is about the connection or login, not about the object. */
const isContact = ({ failure }: ClusterError): boolean =>
  failure === 'unreachable' || failure === 'unavailable' || failure === 'unauthorized'
