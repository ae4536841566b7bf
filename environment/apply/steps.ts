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
import { withLiveAnnotations } from './claim-templates.ts'
import { isEnding } from './removal.ts'
import { replicasToKeep, whileResting } from './suspended.ts'

/** Action of a deploy on one object. */
export type Step =
  | ({ readonly action: 'create' } & Applied)
  | { readonly action: 'unchanged'; readonly wanted: DesiredObject; readonly live: KubeObject }
  | ({
      readonly action: 'update'
      readonly live: KubeObject
      readonly differences: readonly Difference[]
      /** True if the object belonged to no environment and now becomes part of this one. */
      readonly isAdopted: boolean
      /**
       * New number of Pods to restore when the workload's mirror ends, a Deployment that stands in for the workload
       * during development. Absent if the workload has no mirror, or if the number stays the same.
       */
      readonly replicasLater?: unknown
    } & Applied)
  /**
   * Deletes the object, waits for the deletion, and creates the object again, because Kubernetes does not allow the
   * change in place.
   */
  | ({
      readonly action: 'replace'
      readonly live: KubeObject
      /** Reason for the replacement, and its effect, as text for users. */
      readonly reason: string
      /** True if the Pods of the replaced object stay and are adopted by the new object. */
      readonly orphan: boolean
    } & Applied)

interface Applied {
  readonly wanted: DesiredObject
  /** Object to apply: the wanted object without fields that other tools may control. */
  readonly object: KubeObject
}

/** Input that the steps of all objects share. */
export interface StepContext {
  readonly cluster: Cluster
  readonly environment: string
  readonly choices: Choices
  readonly options: CallOptions
  /** Workloads, as `KIND/NAME`, whose autoscaler the deploy deletes. */
  readonly released: ReadonlySet<string>
}

/**
 * Determines the action for one object from a dry run on the server. `live` is the environment's existing object of
 * that name. Throws a UserError if the object cannot be deployed.
 */
export async function stepFor(
  context: StepContext,
  wanted: DesiredObject,
  live: KubeObject | undefined,
  service: string | undefined,
): Promise<Step> {
  const object = withLiveAnnotations(whileResting(wanted.object, live), live)
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
    // Changes that a controller has made since the listing do not count as differences.
    const there = (await find(context, object)) ?? live
    return isEnding(there) ? afterItsEnd(there) : change(wanted, sent, there, next, false)
  }
  // Only an existing object has a version. This one does not belong to the environment, or the environment's record is
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
  /** Resulting object of the dry run (`next`), and the object to send (`sent`). */
  | { readonly next: KubeObject; readonly sent: KubeObject }
  /** The change is only possible by creating the StatefulSet again. */
  | { readonly isImmutable: true }
  /** The existing object of that name is being deleted. */
  | { readonly ending: KubeObject }

/** Returns the result of a dry run of the object. */
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
    // The owner of the object is a better explanation than the error of the change.
    if (there && !isOfEnvironment(context, there)) refuseForeign(wanted, there, choices)
    if (error.failure === 'conflict' && !force && error.causes.length > 0) {
      if (isLeftToScaler(error, there) && !context.released.has(`${object.kind}/${object.metadata.name}`))
        return dryRun(context, wanted, withoutReplicas(object), live)
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
 * Checks that the server will accept the object once the existing object of that name has been deleted. Throws a
 * UserError if the server rejects the object.
 */
async function revalidate(context: StepContext, wanted: DesiredObject): Promise<void> {
  const { cluster, options } = context
  try {
    await cluster.apply(wanted.object, { ...options, manager: MANAGER, dryRun: true, force: true })
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    // The existing object may be the reason: it does not allow the change.
    if (error.failure === 'invalid') return validate(context, wanted)
    if (!isWithoutDryRun(error)) throw refusal(error, wanted)
  }
}

/**
 * Checks that the server accepts an object, before the existing object of that name is deleted and created again. The
 * dry run uses another name, so that it does not collide with the existing object. Throws a UserError if the server
 * rejects the object.
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

/** Returns the existing object with the kind, namespace and name of `object`, no matter which tool created it. */
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

/** Returns true if the server cannot do a dry run because a webhook has side effects. */
const isWithoutDryRun = ({ message }: ClusterError): boolean => /does not support dry run/.test(message)

/** Returns true if a StatefulSet was rejected because an immutable field would change. */
const isImmutable = (error: ClusterError): boolean =>
  error.failure === 'invalid' && /updates to statefulset spec for fields other than/.test(error.message)

function isHeadless({ spec }: KubeObject): boolean {
  return (spec as { readonly clusterIP?: string } | undefined)?.clusterIP === 'None' // a Service's spec
}
