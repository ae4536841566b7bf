import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../cluster/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { type Difference, differencesOf } from './comparison.ts'
import { ENVIRONMENT_LABEL, environmentSelector, MANAGER } from './labels.ts'
import { inParallel } from './pool.ts'
import { keepsItself } from './prune-rules.ts'
import { type RecordedKind, readRecord, recordName, unitedKinds } from './record.ts'
import { allOf, nameOf, serviceOf, type Wanted, type WantedObject } from './wanted.ts'

/** What a deploy does with one object. */
export type Step =
  | { readonly action: 'create'; readonly wanted: WantedObject }
  | { readonly action: 'unchanged'; readonly wanted: WantedObject; readonly live: KubeObject }
  | {
      readonly action: 'update'
      readonly wanted: WantedObject
      readonly live: KubeObject
      readonly differences: readonly Difference[]
    }
  /** Deleted, waited for, and made again, because Kubernetes does not take the change. `orphan`: its Pods stay and are taken over. */
  | {
      readonly action: 'replace'
      readonly wanted: WantedObject
      readonly live: KubeObject
      readonly reason: string
      readonly orphan: boolean
    }

/** What a deploy would do; nothing of it is done yet. */
export interface Changes {
  readonly steps: ReadonlyMap<WantedObject, Step>
  /** Objects of the environment that nobody wants any more. */
  readonly prune: readonly KubeObject[]
  /** Workloads among those that must be gone before their successor is made: another kind, or an older Job of the same service. */
  readonly pruneFirst: readonly KubeObject[]
  /** What the record has now; undefined when the environment is new. */
  readonly recorded: readonly RecordedKind[] | undefined
  /** The kinds that are wanted. */
  readonly kinds: readonly RecordedKind[]
}

const WORKLOADS = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Job'])

/**
 * Finds out what a deploy would do: lists what the environment has, and asks the server with a dry run for what would become of each object
 * (reference/peers.md 4.2). Throws a UserError for what cannot be deployed.
 */
export async function planChanges(cluster: Cluster, wanted: Wanted, options: CallOptions): Promise<Changes> {
  const { environment, namespace } = wanted
  const objects = allOf(wanted)
  const kinds = unitedKinds(objects.map(({ object }) => object))
  const recorded = (await readRecord(cluster, environment, namespace, options))?.kinds
  const live = await listEnvironment(cluster, environment, namespace, unitedKinds(kinds, recorded ?? []), options)
  const byKey = new Map(live.map(object => [keyOf(object), object]))
  const steps = new Map<WantedObject, Step>()
  await inParallel(objects, async one => {
    steps.set(one, await stepFor(cluster, one, byKey.get(keyOf(one.object)), environment, options))
  })
  const isWanted = new Set(objects.map(({ object }) => keyOf(object)))
  const left = live.filter(object => !isWanted.has(keyOf(object)) && mayPrune(object, environment))
  const services = new Set(wanted.workloads.map(({ service }) => service))
  const pruneFirst = left.filter(object => WORKLOADS.has(object.kind) && services.has(serviceOf(object) ?? ''))
  return {
    steps: new Map(objects.map(one => [one, steps.get(one)!])),
    prune: left.filter(object => !pruneFirst.includes(object)),
    pruneFirst,
    recorded,
    kinds,
  }
}

/** The objects of an environment, of the kinds given. A kind that the cluster does not have any more has no objects. */
export async function listEnvironment(
  cluster: Cluster,
  environment: string,
  namespace: string,
  kinds: readonly RecordedKind[],
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  const labels = environmentSelector(environment)
  const lists = await inParallel(kinds, async ({ apiVersion, kind }) => {
    if (!(await cluster.resource(apiVersion, kind, options))) return []
    const found = await cluster.list({ apiVersion, kind, namespace, labels }, options)
    // Lists do not say the kind of their items.
    return found.map(object => ({ ...object, apiVersion, kind }))
  })
  return lists.flat()
}

const keyOf = ({ apiVersion, kind, metadata }: KubeObject): string => `${apiVersion} ${kind} ${metadata.name}`

/** The record goes last, claims only when they are asked for, and what others own goes with its owner (reference/peers.md 4.9). */
function mayPrune(object: KubeObject, environment: string): boolean {
  if (object.kind === 'ConfigMap' && object.metadata.name === recordName(environment)) return false
  if (object.kind === 'PersistentVolumeClaim') return false
  return !keepsItself(object) && (object.metadata.ownerReferences ?? []).length === 0
}

async function stepFor(
  cluster: Cluster,
  wanted: WantedObject,
  live: KubeObject | undefined,
  environment: string,
  options: CallOptions,
): Promise<Step> {
  const { object } = wanted
  if (live && object.kind === 'Job' && hasFailed(live))
    return { action: 'replace', wanted, live, reason: 'the Job has failed and runs again', orphan: false }
  if (live && object.kind === 'Service' && isHeadless(live) !== isHeadless(object))
    return {
      action: 'replace',
      wanted,
      live,
      reason: 'a Service cannot change between headless and not',
      orphan: false,
    }
  let next: KubeObject
  try {
    next = await dryRun(cluster, object, options)
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error
    if (live && error.failure === 'invalid' && object.kind === 'StatefulSet')
      return {
        action: 'replace',
        wanted,
        live,
        reason: 'a field of it cannot change; its Pods and claims stay',
        orphan: true,
      }
    throw refused(error, wanted)
  }
  if (!live) {
    // Only an object that is there has a version: it is not of this environment.
    if (next.metadata.resourceVersion !== undefined) throw await foreign(cluster, wanted, environment, options)
    return { action: 'create', wanted }
  }
  const differences = differencesOf(live, next)
  return differences.length === 0
    ? { action: 'unchanged', wanted, live }
    : { action: 'update', wanted, live, differences }
}

/** What a person changed by hand is drift and taken back; what another tool applies is a conflict (reference/peers.md 4.5). */
async function dryRun(cluster: Cluster, object: KubeObject, options: CallOptions): Promise<KubeObject> {
  try {
    return await cluster.apply(object, { ...options, manager: MANAGER, dryRun: true })
  } catch (error) {
    const isDrift =
      error instanceof ClusterError &&
      error.failure === 'conflict' &&
      error.causes.length > 0 &&
      error.causes.every(({ message }) => /conflict with "kubectl[^"]*"/.test(message))
    if (!isDrift) throw error
    return cluster.apply(object, { ...options, manager: MANAGER, dryRun: true, force: true })
  }
}

async function foreign(
  cluster: Cluster,
  { object }: WantedObject,
  environment: string,
  options: CallOptions,
): Promise<UserError> {
  const { apiVersion, kind, metadata } = object
  const there = await cluster.get({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace }, options)
  const labels = there?.metadata.labels ?? {}
  const other = labels[ENVIRONMENT_LABEL]
  const helm = there?.metadata.annotations?.['meta.helm.sh/release-name']
  const owner =
    other !== undefined && other !== environment
      ? `the environment \`${other}\``
      : helm !== undefined
        ? `the Helm release \`${helm}\``
        : labels['app.kubernetes.io/managed-by'] && `\`${labels['app.kubernetes.io/managed-by']}\``
  return new UserError(`\`${nameOf(object)}\` is there already and belongs to ${owner || 'somebody else'}`, {
    hint: 'give the environment a namespace of its own, or rename the service',
  })
}

function refused(error: ClusterError, { object, source }: WantedObject): unknown {
  const name = `\`${nameOf(object)}\``
  const notes = [
    `made from ${source}`,
    ...error.causes.map(({ field, message }) => (field ? `${field}: ${message}` : message)),
  ]
  const { namespace } = object.metadata
  if (error.failure === 'not-found' && /namespaces? "/.test(error.message))
    return new UserError(`the namespace \`${namespace}\` does not exist`, {
      hint: `make it with \`kubectl create namespace ${namespace}\`, or name another one with \`--namespace\``,
    })
  if (error.failure === 'not-found')
    return new UserError(`the cluster does not know the kind \`${object.kind}\` of \`${object.apiVersion}\``, {
      notes,
      hint: 'install what defines it, such as the Gateway API',
    })
  if (error.failure === 'conflict')
    return new UserError(`another tool applies fields of ${name}`, { notes, cause: error })
  if (error.failure === 'invalid' && object.kind === 'PersistentVolumeClaim')
    return new UserError(`the claim ${name} cannot become what the file says`, {
      notes,
      hint: 'claims grow where their storage class can, and never shrink or change class; keep the size, or make another volume',
      cause: error,
    })
  if (error.failure === 'invalid')
    return new UserError(`the cluster does not take ${name}`, {
      notes: notes.length > 1 ? notes : [...notes, error.message],
      cause: error,
    })
  return error
}

function isHeadless({ spec }: KubeObject): boolean {
  return (spec as { readonly clusterIP?: string } | undefined)?.clusterIP === 'None' // a Service's spec
}

function hasFailed({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  } // a Job's status
  return conditions.some(({ type, status: value }) => type === 'Failed' && value === 'True')
}
