import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { ENVIRONMENT_LABEL, MANAGER } from '../labels.ts'
import type { Choices } from '../plan/choices.ts'
import { refuseHeldClaim } from '../plan/claim-holders.ts'
import type { Difference } from '../plan/comparison.ts'
import { isDrift, isLeftToScaler, refuseConflict } from '../plan/conflicts.ts'
import type { DesiredObject } from '../plan/desired-state.ts'
import { ownDifferences } from '../plan/field-owners.ts'
import { overlay } from '../plan/overlay.ts'
import { refusal, refuseForeign } from '../plan/refusals.ts'
import { statusOf } from '../rollout/status.ts'
import { isEnding } from './removal.ts'
import { replicasToKeep, whileResting } from './suspended.ts'

/** The action of a deploy on one object. */
export type Step =
  | ({ readonly action: 'create' } & Applied)
  | { readonly action: 'unchanged'; readonly wanted: DesiredObject; readonly live: KubeObject }
  | ({
      readonly action: 'update'
      readonly live: KubeObject
      readonly differences: readonly Difference[]
      /** True if the object belonged to no environment, and becomes part of this one. */
      readonly isAdopted: boolean
      /** A mirror stands in for it: how many Pods it gets back at its end. */
      readonly replicasLater?: unknown
    } & Applied)
  /** Deleted, waited for, and made again, because Kubernetes does not take the change. */
  | ({
      readonly action: 'replace'
      readonly live: KubeObject
      /** Reason for the replacement and its effect, in words. */
      readonly reason: string
      /** Its Pods stay and are taken over by the new one. */
      readonly orphan: boolean
    } & Applied)

interface Applied {
  readonly wanted: DesiredObject
  /** The object to apply: the wanted one, without fields that others may decide. */
  readonly object: KubeObject
}

/** The common input of the steps of all objects. */
export interface StepContext {
  readonly cluster: Cluster
  readonly environment: string
  readonly choices: Choices
  readonly options: CallOptions
}

/**
 * Finds out what to do with one object, by asking the server with a dry run what would become of
 * it. `live` is the environment's own object of that name. Throws a UserError for what cannot be
 * done.
 */
export async function stepFor(
  context: StepContext,
  wanted: DesiredObject,
  live: KubeObject | undefined,
  service: string | undefined,
): Promise<Step> {
  const object = whileResting(wanted.object, live)
  const replace = (there: KubeObject, reason: string, orphan = false): Step => ({
    action: 'replace',
    wanted,
    object,
    live: there,
    reason,
    orphan,
  })
  const afterItsEnd = async (ending: KubeObject): Promise<Step> => {
    await refuseHeldClaim(context.cluster, ending, context.options)
    await revalidate(context, wanted)
    return replace(ending, 'it is being deleted: devctl waits and creates it again')
  }
  if (live && isEnding(live)) return afterItsEnd(live)
  if (live && object.kind === 'Job') {
    if (statusOf(live).state === 'failed') return replace(live, 'the Job failed and runs again')
    if (service !== undefined && context.choices.rerun.has(service)) return replace(live, 'the Job runs again')
  }
  if (live && object.kind === 'Service' && isHeadless(live) !== isHeadless(object))
    return replace(live, 'a Service cannot become headless or stop being headless: it is deleted and created again')

  const first = await dryRun(context, wanted, object, live)
  if ('ending' in first) return afterItsEnd(first.ending)
  if ('isImmutable' in first)
    return replace(live!, 'an immutable field changes: it is created again; its Pods and claims stay', true)
  const { next, sent } = first
  if (live) {
    const step = change(wanted, sent, live, next, false)
    if (step.action === 'unchanged' || next.metadata.resourceVersion === live.metadata.resourceVersion) return step
    // A controller's changes since the listing are not differences.
    const there = (await find(context, object)) ?? live
    return isEnding(there) ? afterItsEnd(there) : change(wanted, sent, there, next, false)
  }
  // Only an existing object has a version: it does not belong to this environment, or the environment's record is
  // missing.
  if (next.metadata.resourceVersion === undefined) return { action: 'create', wanted, object: sent }
  const there = await find(context, object)
  if (!there) return { action: 'create', wanted, object: sent }
  if (isEnding(there)) return afterItsEnd(there)
  if (isOfEnvironment(context, there)) return stepFor(context, wanted, there, service)
  refuseForeign(wanted, there, context.choices)
  return change(wanted, sent, there, next, true)
}

function change(
  wanted: DesiredObject,
  object: KubeObject,
  live: KubeObject,
  next: KubeObject,
  isAdopted: boolean,
): Step {
  const [later] = replicasToKeep(wanted.object, live)
  const now = ownDifferences(object, live, next)
  const differences = later ? [...now, later] : now
  if (differences.length === 0) return { action: 'unchanged', wanted, live }
  const update = { action: 'update', wanted, object, live, differences, isAdopted } as const
  return later ? { ...update, replicasLater: later.after } : update
}

type DryRun =
  /** The object as it would be then, and the object to send for that. */
  | { readonly next: KubeObject; readonly sent: KubeObject }
  /** A StatefulSet has to be made again for it. */
  | { readonly isImmutable: true }
  /** The object of that name is being deleted. */
  | { readonly ending: KubeObject }

/** Asks the server what would become of the object. */
async function dryRun(
  context: StepContext,
  wanted: DesiredObject,
  object: KubeObject,
  live: KubeObject | undefined,
  force = false,
): Promise<DryRun> {
  const { cluster, choices, options } = context
  try {
    const next = await cluster.apply(object, { ...options, manager: MANAGER, dryRun: true, force })
    return { next, sent: object }
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    const hasNoDryRun = isWithoutDryRun(error)
    const mayBeThere = error.failure === 'conflict' || error.failure === 'invalid' || hasNoDryRun
    const there = live ?? (mayBeThere ? await find(context, object) : undefined)
    if (there && isEnding(there)) return { ending: there }
    // The owner of the object explains more than the reason why it cannot be changed.
    if (there && !isOfEnvironment(context, there)) refuseForeign(wanted, there, choices)
    if (error.failure === 'conflict' && !force && error.causes.length > 0) {
      if (isLeftToScaler(error, there)) return dryRun(context, wanted, withoutReplicas(object), live)
      if (!choices.forceConflicts && !isDrift(error, there)) refuseConflict(error, wanted, there)
      return dryRun(context, wanted, object, live, true)
    }
    if (live && object.kind === 'StatefulSet' && isImmutable(error)) {
      await validate(context, wanted)
      return { isImmutable: true }
    }
    // The server cannot preview the result; a missing object is created.
    if (hasNoDryRun) return { next: there ? overlay(there, object) : object, sent: object }
    throw refusal(error, wanted)
  }
}

/**
 * Checks that the server accepts the object once the existing object of that name has been deleted. Throws a UserError
 * if not.
 */
async function revalidate(context: StepContext, wanted: DesiredObject): Promise<void> {
  const { cluster, options } = context
  try {
    await cluster.apply(wanted.object, { ...options, manager: MANAGER, dryRun: true, force: true })
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    // It may be the old one that does not take the change.
    if (error.failure === 'invalid') return validate(context, wanted)
    if (!isWithoutDryRun(error)) throw refusal(error, wanted)
  }
}

/**
 * Checks that the server accepts the object, before the existing one is deleted and created again. A dry run under
 * another name does not collide with it. Throws a UserError if not.
 */
async function validate({ cluster, options }: StepContext, wanted: DesiredObject): Promise<void> {
  const { object } = wanted
  const metadata = { ...object.metadata, name: `${object.metadata.name.slice(0, 40)}-devctl-check` }
  try {
    await cluster.apply({ ...object, metadata }, { ...options, manager: MANAGER, dryRun: true })
  } catch (error) {
    throw error instanceof ClusterError ? refusal(error, wanted) : error
  }
}

/** Returns the object of that name, no matter which tool created it. */
function find({ cluster, options }: StepContext, object: KubeObject): Promise<KubeObject | undefined> {
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  return cluster.get({ apiVersion, kind, name, namespace }, options)
}

const isOfEnvironment = ({ environment }: StepContext, { metadata }: KubeObject): boolean =>
  metadata.labels?.[ENVIRONMENT_LABEL] === environment

function withoutReplicas(object: KubeObject): KubeObject {
  const { replicas: _, ...spec } = object['spec'] as Readonly<Record<string, unknown>> // it conflicts about its spec
  return { ...object, spec }
}

/** A webhook with side effects does not answer dry runs. */
const isWithoutDryRun = ({ message }: ClusterError): boolean => /does not support dry run/.test(message)

/** The server's words for a change of what a StatefulSet keeps for life. */
const isImmutable = (error: ClusterError): boolean =>
  error.failure === 'invalid' && /updates to statefulset spec for fields other than/.test(error.message)

function isHeadless({ spec }: KubeObject): boolean {
  return (spec as { readonly clusterIP?: string } | undefined)?.clusterIP === 'None' // a Service's spec
}
