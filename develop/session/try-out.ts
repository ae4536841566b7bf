import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { mirror } from '../../constructs/mirror/mirror.ts'
import { AGENT_CONTAINER } from '../../constructs/mirror/names.ts'
import type { MirrorFacts, MirrorObject, MirrorObjects, MirrorSettings } from '../../constructs/mirror/settings.ts'
import { admissionHint } from '../../environment/plan/admission.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { webhookRefusal } from '../../environment/plan/webhook-refusal.ts'
import { UP_MANAGER, valueAt } from '../../environment/record/up-record.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { Session } from '../../project/session.ts'
import { allConcurrent } from '../all-concurrent.ts'
import { assertOwnMirror } from '../mirror/place-mirror.ts'
import { recordFor, restingPatch } from '../mirror/suspend-original.ts'

/** Objects of a mirror that the cluster would accept, and the facts about the cluster that the dry run has shown. */
export interface TriedOut {
  readonly objects: MirrorObjects
  readonly facts: MirrorFacts
}

/** Input that a mirror is generated from. */
export interface TryOutInput {
  readonly live: KubeObject | undefined
  readonly settings: MirrorSettings
  readonly facts: MirrorFacts
  /** Existing Deployments with the names of mirrors. */
  readonly there: readonly KubeObject[]
}

/**
 * Generates the objects of a mirror, and sends all of them to the cluster as concurrent dry runs. Includes the Pods,
 * because otherwise the cluster would reject a Pod only later, when its controller creates it. Throws a UserError with
 * the cluster's reason.
 */
export async function tryOut(
  session: Session,
  input: TryOutInput,
  on: (event: CommonEvent) => void,
): Promise<TriedOut> {
  const { live, settings, facts, there } = input
  const objects = mirror(live, settings, facts)
  const { claim, ...others } = objects
  const mirrors = [objects.workload, ...objects.services]
  const warnings: CommonEvent[] = []
  const warn = (event: CommonEvent) => void warnings.push(event)
  const tryingPod = tryPod(session, podOf(objects.workload), live, warn)
  const tryingOthers = allConcurrent([
    claim && mayGrow(session, claim, facts, warn),
    ...listed(others).map(object => tryObject(session, object, there)),
    ...objects.services.map((service, index) => tryPod(session, podOf(service), facts.services[index], warn)),
    ...[live, ...facts.services].map((one, index) => one && tryResting(session, one, settings.name, mirrors[index]!)),
  ])
  await Promise.allSettled([tryingPod, tryingOthers])
  const tried = await tryingPod
  if (facts.hasSidecars && tried && !keepsSidecar(tried))
    return tryOut(session, { ...input, facts: { ...facts, hasSidecars: false } }, on)
  for (const event of warnings) on(event)
  const [mayBeLarger] = await tryingOthers
  return { objects: claim && !mayBeLarger ? others : objects, facts }
}

/**
 * Checks with a dry run that the cluster accepts the patch that scales an application to zero and stores the record in
 * it.
 */
async function tryResting(
  { cluster, namespace, signal }: Session,
  live: KubeObject,
  development: string,
  { metadata: { name: mirror } }: MirrorObject,
): Promise<void> {
  const ref = { apiVersion: live.apiVersion, kind: live.kind, name: live.metadata.name, namespace }
  const { resourceVersion: _, ...metadata } = live.metadata
  const patch = restingPatch({ ...live, metadata }, recordFor(live, { development, by: '', since: '', mirror }))
  await refusing(nameOf(live), () => cluster.patch(ref, patch, { manager: UP_MANAGER, dryRun: true, signal }))
}

/**
 * Returns false if an existing claim should grow but its storage class does not allow that. The claim then has to stay
 * unchanged.
 */
async function mayGrow(
  session: Session,
  claim: MirrorObject,
  { claims }: MirrorFacts,
  on: (event: CommonEvent) => void,
): Promise<boolean> {
  const { name } = claim.metadata
  try {
    await session.cluster.apply(claim, { manager: UP_MANAGER, force: true, dryRun: true, signal: session.signal })
    return true
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    // The API server responds with 403 if the class does not allow volumes to grow.
    if (!claims.has(name) || !/resize|expan/.test(error.message)) throw refused(error, nameOf(claim))
    on({ type: 'warning', text: `the claim \`${name}\` keeps its size: its storage class does not allow it to grow` })
    return false
  }
}

/** Returns all objects of a mirror in the order in which they are created. */
export const listed = ({ claim, secret, service, workload, services }: MirrorObjects): readonly MirrorObject[] => [
  ...(claim ? [claim] : []),
  secret,
  ...(service ? [service] : []),
  workload,
  ...services,
]

async function tryObject(
  { cluster, signal }: Session,
  object: MirrorObject,
  mirrors: readonly KubeObject[],
): Promise<void> {
  const there = object.kind === 'Deployment' && mirrors.find(({ metadata }) => metadata.name === object.metadata.name)
  if (there) assertOwnMirror(there)
  // An existing mirror with another selector is replaced, so a dry run of the change would be rejected without need.
  if (there) return
  const options = { manager: UP_MANAGER, force: true, dryRun: true, signal }
  await refusing(nameOf(object), () => cluster.apply(object, options))
}

/**
 * Returns the Pod as the cluster would create it; undefined if it exceeds the quota while the application is still
 * running.
 */
async function tryPod(
  { cluster, signal }: Session,
  pod: MirrorObject,
  live: KubeObject | MirrorFacts['services'][number] | undefined,
  on: (event: CommonEvent) => void,
): Promise<KubeObject | undefined> {
  try {
    return await cluster.apply(pod, { manager: UP_MANAGER, force: true, dryRun: true, signal })
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    const frees = valueAt(live, ['spec', 'replicas']) !== 0 && live !== undefined
    if (!frees || !/exceeded quota/.test(error.message)) throw refused(error, nameOf(pod))
    on({ type: 'warning', text: `the mirror fits only when the Pods of the application are gone: ${error.message}` })
    return undefined
  }
}

function podOf({ metadata, spec }: MirrorObject): MirrorObject {
  const template = (spec as { readonly template: Pick<MirrorObject, 'metadata' | 'spec'> }).template // a Deployment's
  const { name, namespace } = metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name: `${name}-dry-run`, namespace },
    spec: template['spec'],
  }
}

/** Returns false if the cluster has dropped the field that makes the agent's init container a sidecar. */
function keepsSidecar(pod: KubeObject): boolean {
  const containers = (valueAt(pod, ['spec', 'initContainers']) ?? []) as readonly {
    name: string
    restartPolicy?: string
  }[] // a Pod's
  const agent = containers.find(({ name }) => name === AGENT_CONTAINER)
  return agent === undefined || agent.restartPolicy === 'Always'
}

async function refusing<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ClusterError ? refused(error, name) : error
  }
}

/**
 * Converts the cluster's reason into an error with a complete sentence. Returns other errors unchanged, such as
 * transient errors and missing permissions.
 */
function refused(error: ClusterError, name: string): unknown {
  const byWebhook = webhookRefusal(error, `\`${name}\``)
  if (byWebhook) return byWebhook
  const hint = admissionHint(error)
  if (error.failure !== 'invalid' && hint === undefined) return error
  const causes = error.causes.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  return new UserError(`the cluster would refuse \`${name}\`; nothing was changed`, {
    notes: causes.length > 0 ? causes : [error.message],
    ...(hint !== undefined && { hint }),
    cause: error,
  })
}
