import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isRoute, isWorkload } from '../../constructs/kinds.ts'
import { isEnding } from '../apply/removal.ts'
import { withReplicasBefore } from '../apply/scaled.ts'
import { type Step, stepFor } from '../apply/steps.ts'
import { isDevelopmentWorkload } from '../apply/suspended.ts'
import { environmentSelector, ORIGIN_ANNOTATION } from '../labels.ts'
import { inParallel } from '../pool.ts'
import {
  type EnvironmentRecord,
  isOwn,
  type RecordedKind,
  type Source,
  sameKinds,
  sameSource,
  unitedKinds,
} from '../record/record.ts'
import { isDependant } from '../status/owners.ts'
import { autoscaledBy, withOwnReplicas } from './autoscaled.ts'
import type { Choices } from './choices.ts'
import { refuseClusterKinds } from './cluster-kinds.ts'
import { allOf, type DesiredObject, type DesiredState, nameOf, serviceOf } from './desired-state.ts'
import { keepsItself } from './prune-rules.ts'

/** Changes that a deploy would make. */
export interface Changes {
  readonly steps: ReadonlyMap<DesiredObject, Step>
  /** Objects of the environment that are no longer wanted. */
  readonly prune: readonly KubeObject[]
  /**
   * Workloads to delete before their successors are created: workloads whose kind changes, and older Jobs of the same
   * service.
   */
  readonly pruneFirst: readonly KubeObject[]
  /** Objects that are no longer wanted but stay: claims, and objects annotated to be kept. */
  readonly kept: readonly KubeObject[]
  /** Current record; undefined for a new environment. */
  readonly recorded: EnvironmentRecord | undefined
  /** Record to write at the end. */
  readonly record: EnvironmentRecord
}

/** Input of `planChanges` in addition to the wanted objects. */
export interface ChangesInput {
  readonly recorded: EnvironmentRecord | undefined
  readonly source: Source
  readonly choices: Choices
}

/**
 * Finds out what a deploy would change: lists the existing objects of the environment, and previews each wanted object
 * with a dry run on the server. Throws a UserError if an object cannot be deployed.
 */
export async function planChanges(
  cluster: Cluster,
  wanted: DesiredState,
  { recorded, source, choices }: ChangesInput,
  options: CallOptions,
): Promise<Changes> {
  const { environment, namespace } = wanted
  refuseOtherSource(environment, recorded?.source, source, choices)
  const objects = allOf(wanted)
  await refuseClusterKinds(cluster, objects, options)
  const kinds = unitedKinds(objects.map(({ object }) => object))
  // Nothing is listed without a record, because the dry run of an object reports whether it exists.
  const all = recorded ? unitedKinds(kinds, recorded.kinds) : []
  const isWanted = new Set(objects.map(({ object }) => keyOf(object)))
  const listed = await listEnvironment(cluster, environment, namespace, all, options)
  const live = eachOnce(listed, object => (isWanted.has(keyOf(object)) ? 0 : isOfKinds(object, kinds) ? 1 : 2))
  const left = live.filter(
    object =>
      !isWanted.has(keyOf(object)) &&
      !isOwn(object, environment) &&
      !isDependant(object) &&
      !isDevelopmentWorkload(object),
  )
  const services = new Set(wanted.workloads.map(({ service }) => service))
  const isKeptRoute = (object: KubeObject) => isRoute(object) && choices.keepRoutes.has(object.metadata.name)
  const stays = (object: KubeObject) => !mayPrune(object) || isKeptRoute(object)
  const prunable = left.filter(object => !stays(object))
  // Objects that are being deleted need no action; only their successors have to wait for them.
  const remain = (object: KubeObject) => !choices.isPart && !isEnding(object)
  const kept = left.filter(object => stays(object) && remain(object))
  const pruneFirst = prunable.filter(object => isWorkload(object) && services.has(serviceOf(object) ?? ''))

  const byKey = new Map(live.map(object => [keyOf(object), object]))
  const unwanted = live.filter(object => !isWanted.has(keyOf(object)))
  const released = autoscaledBy(unwanted.filter(endsWith(prunable.filter(remain))))
  const context = { cluster, environment, choices, options, released }
  const autoscaled = autoscaledBy(objects.map(({ object }) => object))
  const steps = await inParallel(objects, one => {
    const there = byKey.get(keyOf(one.object))
    const counted = withReplicasBefore(withOwnReplicas(one, there, autoscaled), there)
    return stepFor(context, counted, there, serviceOf(one.object))
  })
  return {
    steps: new Map(objects.map((one, index) => [one, steps[index]!])),
    prune: prunable.filter(object => !pruneFirst.includes(object) && remain(object)),
    pruneFirst,
    kept,
    recorded,
    record: {
      source,
      kinds: unitedKinds(
        kinds,
        choices.isPart ? (recorded?.kinds ?? []) : [],
        kept.map(object => kindOf(object, namespace)),
        await missingKinds(cluster, recorded, options),
      ),
    },
  }
}

/**
 * Throws a UserError if a deploy would delete so many workloads that the user may have named the wrong file or the
 * wrong environment. Workloads that are only replaced do not count.
 */
export function refuseManyDeletions({ prune, steps }: Changes, { pruneLimit }: Choices): void {
  const names = prune.filter(isWorkload).map(nameOf)
  const present = [...steps.values()].filter(({ action, wanted }) => action !== 'create' && isWorkload(wanted.object))
  const limit = pruneLimit ?? Math.max(3, Math.floor(0.3 * (names.length + present.length)))
  if (names.length <= limit) return
  throw new UserError(`${names.length} workloads are no longer in the files and would be deleted`, {
    notes: names,
    hint: `check the file and the environment; \`--prune-limit ${names.length}\` deletes them`,
  })
}

/** Returns true if a deploy would change nothing: neither objects nor the kinds and the source in the record. */
export const isUpToDate = ({ steps, prune, pruneFirst, recorded, record }: Changes): boolean =>
  [...steps.values()].every(({ action }) => action === 'unchanged') &&
  prune.length + pruneFirst.length === 0 &&
  recorded !== undefined &&
  recorded.ending === undefined &&
  sameKinds(recorded.kinds, record.kinds) &&
  sameSource(recorded.source, record.source)

/** Returns the objects of an environment, of the given kinds. A kind that the cluster no longer has counts as empty. */
export async function listEnvironment(
  cluster: Cluster,
  environment: string,
  namespace: string,
  kinds: readonly RecordedKind[],
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  const lists = await inParallel(kinds, async ({ apiVersion, kind, namespace: elsewhere }) => {
    if (!(await cluster.resource(apiVersion, kind, options))) return []
    const isHere = elsewhere === undefined || elsewhere === namespace
    const labels = environmentSelector(environment, isHere ? undefined : namespace)
    const where = isHere ? namespace : (elsewhere ?? undefined)
    return cluster.list({ apiVersion, kind, namespace: where, labels }, options)
  })
  return lists.flat()
}

/**
 * Returns each object once, in the version with the lowest rank: the API server lists an object in every version of its
 * kind that it serves.
 */
function eachOnce(listed: readonly KubeObject[], rankOf: (object: KubeObject) => number): readonly KubeObject[] {
  const byUid = new Map<unknown, KubeObject>()
  for (const object of listed) {
    const id = object.metadata.uid ?? object
    const known = byUid.get(id)
    if (!known || rankOf(object) < rankOf(known)) byUid.set(id, object)
  }
  return [...byUid.values()]
}

const isOfKinds = ({ apiVersion, kind }: KubeObject, kinds: readonly RecordedKind[]): boolean =>
  kinds.some(one => one.apiVersion === apiVersion && one.kind === kind)

/** Returns a predicate for the objects that end with the deploy: they are deleted, or their owner is. */
function endsWith(deleted: readonly KubeObject[]): (object: KubeObject) => boolean {
  const uids = new Set(deleted.map(({ metadata }) => metadata.uid))
  return object =>
    isEnding(object) ||
    uids.has(object.metadata.uid) ||
    (object.metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid))
}

/**
 * Returns the recorded kinds that the cluster does not have at the moment. They stay in the record, because their
 * objects exist again once the kind is installed again.
 */
async function missingKinds(
  cluster: Cluster,
  recorded: EnvironmentRecord | undefined,
  options: CallOptions,
): Promise<readonly RecordedKind[]> {
  const kinds = recorded?.kinds ?? []
  const resources = await inParallel(kinds, ({ apiVersion, kind }) => cluster.resource(apiVersion, kind, options))
  return kinds.filter((_, index) => resources[index] === undefined)
}

/** Throws a UserError if the environment was deployed from other files, unless the user takes it over. */
export function refuseOtherSource(
  environment: string,
  before: Source | undefined,
  now: Source,
  { takeOver }: Choices,
): void {
  if (takeOver || !before || sameSource(before, now)) return
  throw new UserError(
    `\`${environment}\` was deployed from another ${before.repository === now.repository ? 'file' : 'repository'}`,
    {
      notes: [
        `before: \`${before.file}\` in \`${before.repository}\``,
        `now: \`${now.file}\` in \`${now.repository}\``,
      ],
      hint: 'choose another name with `--name`, or take over the environment with `--take-over`',
    },
  )
}

/** Returns the kind of an object, with its namespace if that differs from the environment's. */
function kindOf({ apiVersion, kind, metadata }: KubeObject, home: string): RecordedKind {
  return { apiVersion, kind, ...(metadata.namespace !== home && { namespace: metadata.namespace ?? null }) }
}

const keyOf = ({ apiVersion, kind, metadata }: KubeObject): string =>
  `${apiVersion} ${kind} ${metadata.namespace ?? ''} ${metadata.name}`

/** Returns true if a command of the manifest created the object. */
export const isCreatedByCommand = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[ORIGIN_ANNOTATION] !== undefined

/**
 * Returns true if a deploy may delete the object. Claims are only deleted on request, and objects created by commands
 * only by destroy.
 */
function mayPrune(object: KubeObject): boolean {
  if (object.kind === 'PersistentVolumeClaim' || isCreatedByCommand(object)) return false
  return !keepsItself(object)
}
