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

/** The objects of a mirror that the cluster would take, and what came out about the cluster. */
export interface TriedOut {
  readonly objects: MirrorObjects
  readonly facts: MirrorFacts
}

/** Input from which a mirror is made. */
export interface TryOutInput {
  readonly live: KubeObject | undefined
  readonly settings: MirrorSettings
  readonly facts: MirrorFacts
  /** The Deployments that have the names of mirrors now. */
  readonly there: readonly KubeObject[]
}

/**
 * Makes the objects of a mirror, and asks the cluster about all of them at once without changing
 * anything: its Pod, too, which only controllers would be refused otherwise. Throws a UserError
 * with the cluster's reason.
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

/** Asks whether an application may be scaled to zero, with the record. */
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
 * Returns false for an existing claim that should grow, but whose storage class does not allow that: it is not changed.
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
    // A class that cannot make volumes larger answers 403.
    if (!claims.has(name) || !/resize|expan/.test(error.message)) throw refused(error, nameOf(claim))
    on({ type: 'warning', text: `the claim \`${name}\` keeps its size: its storage class does not allow it to grow` })
    return false
  }
}

/** All objects of a mirror, in the order in which they are made. */
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
  // An old one with another selector is replaced, so nothing is asked about its change.
  if (there) return
  const options = { manager: UP_MANAGER, force: true, dryRun: true, signal }
  await refusing(nameOf(object), () => cluster.apply(object, options))
}

/** The answer of the cluster; undefined if the quota is full as long as the application runs. */
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

/** False if the cluster has dropped what makes an init container stay. */
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
 * Returns the cluster's reason as an error with a sentence; transient errors and missing rights are reported elsewhere.
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
