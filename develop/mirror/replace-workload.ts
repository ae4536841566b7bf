import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { ClusterError, type KubeObject, type ObjectRef } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { lastingContainers } from '../../constructs/manifest.ts'
import { detach } from '../../constructs/mirror/detach.ts'
import type { Json } from '../../constructs/mirror/json.ts'
import { imageOf, knownUser } from '../../constructs/mirror/mirror.ts'
import { mirrorName, sessionSecretName } from '../../constructs/mirror/names.ts'
import type { MirrorFacts, MirrorObject, MirrorSettings } from '../../constructs/mirror/settings.ts'
import { type HeldLease, personOf } from '../../environment/apply/held-lease.ts'
import { gone, isEnding } from '../../environment/apply/removal.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { isManagedByArgoCd } from '../../environment/plan/managed-by.ts'
import { UP_MANAGER, type UpRecord, upRecordOf, valueAt } from '../../environment/record/up-record.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { Session } from '../../project/session.ts'
import { allConcurrent } from '../all-concurrent.ts'
import type { Credentials } from '../session/credentials.ts'
import { listed, type TriedOut, tryOut } from '../session/try-out.ts'
import { claimFacts } from './claim-facts.ts'
import { podSelector } from './find-mirror.ts'
import { withKnownRecord } from './known-record.ts'
import { holdApplication } from './lease.ts'
import { placeMirror } from './place-mirror.ts'
import { allAutoscalers, allScalers, pause, restingAutoscalers, scalersOf } from './scalers.ts'
import { beforeUp, recordFor, restingPatch, scaleField } from './suspend-original.ts'
import { type Kept, watchOriginal } from './watch-original.ts'

/**
 * The application to replace, and the description of its mirror. `Config` is the configuration that the agent is
 * started with.
 */
export interface ReplaceInput<Config extends object> {
  /** Application to replace; undefined for a container without an application. */
  readonly original: ObjectRef | undefined
  /** Applications of `settings.services`, in the same order. */
  readonly services?: readonly ObjectRef[]
  readonly settings: MirrorSettings
  /** Returns the settings for an application whose image has changed. */
  readonly settingsOf?: (live: KubeObject) => Promise<MirrorSettings>
  /** Source text of the agent's program, a single file. */
  readonly agent: string
  readonly facts: Pick<MirrorFacts, 'agentImage' | 'toolsImage' | 'runs' | 'files' | 'user'>
  /**
   * Returns the configuration that the agent is started with. `existing` is the configuration that an existing mirror
   * has; undefined if the application is taken over from another session. The keys in `existing` are kept, because
   * other keys would start new Pods.
   */
  readonly session: (existing: unknown) => Config
  /** Folder or repository of the project. */
  readonly project?: string
  readonly takeOver: boolean
  /** True to change nothing and return the planned objects. */
  readonly dryRun: boolean
}

/** A mirror that has replaced an application. */
export interface ReplacedWorkload<Config extends object> {
  readonly kind: 'taken'
  readonly mirror: ObjectRef & { readonly namespace: string }
  /** Label selector of the mirror's Pods. */
  readonly labels: string
  readonly session: Config
  readonly record: UpRecord
  /** Summary of the replacement: `deployment/api 3 → 0 replicas, mirror deployment/api-dev`. */
  readonly text: string
  /** Aborted if another session has taken over the application. */
  readonly signal: AbortSignal
  /** Keeps the mirror in line with the application until the signal is aborted. */
  watch(signal: AbortSignal, credentials?: Credentials): Promise<void>
  /** Releases the Lease; the mirror continues to exist. */
  release(): Promise<void>
}

export interface PlannedMirror {
  readonly kind: 'planned'
  readonly objects: readonly MirrorObject[]
}

/**
 * An application and the name of its mirror. Without an application, the mirror has the name of its development
 * container.
 */
interface Target {
  readonly live: KubeObject | undefined
  readonly mirror: string
  /** Existing Deployment with the name of the mirror. */
  readonly there: KubeObject | undefined
}

/**
 * Replaces an application with its mirror: acquires its Lease and does a dry run of all changes, applies the Secret and
 * the claim, scales the application to zero and records its earlier state in a single patch, and then applies the
 * mirror. If it is interrupted after any step, the next `up` continues, and `down` restores the application.
 * Independent requests are sent concurrently. Throws a UserError if another session works on the application, and a
 * ClusterError if the cluster rejects a change.
 */
export async function replaceWorkload<Config extends object>(
  session: Session,
  input: ReplaceInput<Config>,
  on: (event: CommonEvent) => void,
): Promise<ReplacedWorkload<Config> | PlannedMirror> {
  for (const ref of [input.original ?? [], input.services ?? []].flat()) refuseKind(ref)
  // Take over with new keys, which start a new Pod, so that the other session can no longer reach the files.
  const [targets, existing, claims] = await allConcurrent([
    targetsOf(session, input),
    input.takeOver ? undefined : existingSession(session, mirrorOf(input)),
    claimFacts(session, input.settings),
  ])
  const [main, ...beside] = targets
  const config = input.session(existing)
  const facts: MirrorFacts = {
    ...input.facts,
    agent: packed(input.agent),
    ...claims,
    namespace: session.namespace,
    session: JSON.stringify(config),
    ...present((config as { readonly reset?: string }).reset), // only `up` has one
    ...userOf(main, input),
    hasSidecars: true,
    services: beside.flatMap(({ live }) => (live ? beforeUp(live) : [])),
  }
  const there = targets.flatMap(one => one.there ?? [])
  const trying = (signal: AbortSignal) =>
    tryOut({ ...session, signal }, { live: main.live, settings: input.settings, facts, there }, on)
  if (input.dryRun) return { kind: 'planned', objects: listed((await trying(session.signal)).objects) }
  const leases: HeldLease[] = []
  const release = async () => {
    await Promise.all(leases.map(lease => lease.release()))
  }
  try {
    const tried = await bothOrNone(session.signal, trying, async signal => {
      for (const { live } of targets) leases.push(await hold({ ...session, signal }, live, input, on))
    })
    const signal = AbortSignal.any([session.signal, ...leases.map(lease => lease.signal)])
    const isHeld = async () => {
      await Promise.all(leases.map(lease => lease.check()))
      return !signal.aborted
    }
    const taken = await takeAll({ ...session, signal }, input, targets, { ...tried, isHeld }, on)
    return { kind: 'taken', ...taken, session: config, signal, release }
  } catch (error) {
    await release()
    throw error
  }
}

/**
 * Runs two operations concurrently. If one fails, aborts the other and throws the failure. Returns the result of
 * `first`.
 */
async function bothOrNone<Result>(
  signal: AbortSignal,
  first: (signal: AbortSignal) => Promise<Result>,
  second: (signal: AbortSignal) => Promise<void>,
): Promise<Result> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const both = [first(either), second(either)] as const
  try {
    const [result] = await Promise.all(both)
    return result
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(both)
    throw error
  }
}

const present = (reset: string | undefined) => (reset === undefined ? {} : { reset })

type Targets = readonly [Target, ...(readonly Target[])]

/** Returns the name of the mirror. */
const mirrorOf = ({ original, settings }: Pick<ReplaceInput<object>, 'original' | 'settings'>): string =>
  mirrorName(original?.name ?? settings.name)

async function targetsOf<Config extends object>(session: Session, input: ReplaceInput<Config>): Promise<Targets> {
  const { original, services = [], settings } = input
  const find = async (ref: ObjectRef, container: string | undefined): Promise<Target> => {
    const target = await readTarget(session, ref)
    refuseContainer(target.live, container)
    refuseOther(target.live, session, input)
    return target
  }
  const alone = async (mirror: string): Promise<Target> => {
    const there = await session.cluster.get(deploymentOf(session, mirror), { signal: session.signal })
    return { live: undefined, mirror, there }
  }
  const [first, ...beside] = await allConcurrent([
    original ? find(original, settings.container) : alone(mirrorOf(input)),
    ...services.map((ref, index) => find(ref, settings.services[index]?.container)),
  ])
  return [first, ...(beside as readonly Target[])]
}

/**
 * Returns an application, and the object that has the name of the application's mirror. Throws a UserError if the
 * application was deleted.
 */
async function readTarget(session: Session, ref: ObjectRef): Promise<Target & { readonly live: KubeObject }> {
  const { cluster, namespace, signal } = session
  const mirror = mirrorName(ref.name)
  const [live, there] = await allConcurrent([
    cluster.get(ref, { signal }),
    cluster.get(deploymentOf(session, mirror), { signal }),
  ])
  if (!live || isEnding(live)) throw wasDeleted(ref)
  return { live: withKnownRecord(live, there, namespace), mirror, there }
}

const deploymentOf = ({ namespace }: Session, name: string): ObjectRef => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name,
  namespace,
})

async function takeAll<Config extends object>(
  session: Session,
  input: ReplaceInput<Config>,
  targets: Targets,
  { objects, facts, isHeld }: TriedOut & Pick<Kept, 'isHeld'>,
  on: (event: CommonEvent) => void,
): Promise<Pick<ReplacedWorkload<Config>, 'mirror' | 'labels' | 'record' | 'text' | 'watch'>> {
  const { cluster, namespace, signal } = session
  const [main] = targets
  for (const text of objects.notes) on({ type: 'note', text })
  for (const { live } of targets) if (live && isManagedByArgoCd(live)) on(argoWarning(live))
  const isOver = targets.some(({ live }) => live !== undefined)
  const [autoscalers, scalers, mirrors] = await allConcurrent([
    isOver ? allAutoscalers(session) : [],
    isOver ? allScalers(session) : [],
    // The previous holder of the Lease may have changed these objects.
    allConcurrent(targets.map(({ mirror }) => cluster.get(deploymentOf(session, mirror), { signal }))),
    ...[objects.claim, objects.secret, objects.service].map(
      object => object && cluster.apply(object, { manager: UP_MANAGER, force: true, signal }),
    ),
  ])
  for (const { live } of targets)
    for (const name of live ? restingAutoscalers(autoscalers, live) : [])
      on({
        type: 'note',
        text: `the autoscaler \`${name}\` rests with \`${nameOf(live!)}\`, and goes on after \`devctl down\``,
      })
  const records = await allConcurrent(targets.map(target => rest(session, target, input, scalers, target !== main)))
  for (const { live } of targets) if (live?.kind === 'StatefulSet') await podsGone(session, live)
  const placed = await allConcurrent(
    [objects.workload, ...objects.services].map((object, index) =>
      placeMirror(session, object, records[index]!, { there: mirrors[index] }),
    ),
  )
  const { name } = objects.workload.metadata
  return {
    mirror: { apiVersion: 'apps/v1', kind: 'Deployment', name, namespace },
    labels: podSelector(placed[0]!),
    record: records[0]!,
    text: described(main.live, records[0]!, name),
    watch: (until, credentials) =>
      watchOriginal(
        { ...session, signal: AbortSignal.any([until, signal]) },
        {
          settings: input.settings,
          facts,
          lives: targets.map(({ live }) => live),
          records,
          placed,
          isHeld,
          ...(input.settingsOf && { settingsOf: input.settingsOf }),
        },
        on,
        credentials,
      ),
  }
}

/**
 * Suspends an application so that its Pods end, and stores the state before the suspension in the application.
 * Idempotent.
 */
async function rest<Config extends object>(
  session: Session,
  { live: seen, mirror }: Target,
  { settings, project }: ReplaceInput<Config>,
  scalers: readonly KubeObject[],
  isBeside: boolean,
): Promise<UpRecord> {
  const { cluster, namespace, clock, signal } = session
  const about = {
    development: settings.name,
    mirror,
    by: personOf(session),
    since: new Date(clock.now()).toISOString(),
    ...(project !== undefined && { project }),
    ...(isBeside && { isBeside }),
  }
  if (!seen) return recordFor(undefined, about)
  const { apiVersion, kind, metadata } = seen
  const ref = { apiVersion, kind, name: metadata.name, namespace }
  for (let live = seen; ; ) {
    const paused = scalersOf(scalers, live, upRecordOf(live))
    const record = recordFor(live, { ...about, ...(paused.length > 0 && { paused }) })
    try {
      await cluster.patch(ref, restingPatch(live, record), { manager: UP_MANAGER, signal })
      await pause(session, paused)
      return record
    } catch (error) {
      // The application was changed or deleted since it was read, or the response to our own patch was lost.
      if (!(error instanceof ClusterError) || !['conflict', 'not-found'].includes(error.failure)) throw error
    }
    live = (await readTarget(session, ref)).live
    if (live.metadata.uid !== metadata.uid) throw wasDeleted(ref)
  }
}

/** Waits until the Pods of an application are deleted, because two Pods must not write to the same claim. */
async function podsGone({ cluster, namespace, signal }: Session, { metadata: { uid } }: KubeObject): Promise<void> {
  for (;;) {
    const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace }, { signal })
    const own = pods.filter(({ metadata }) => metadata.ownerReferences?.some(owner => owner.uid === uid))
    if (own.length === 0) return
    await gone(cluster, own, signal)
  }
}

/**
 * Compresses the agent's program with gzip level 9, which reduces it from 340 kB to 98 kB: a Secret is limited to 1
 * MiB.
 */
function packed(program: string): MirrorFacts['agent'] {
  return {
    data: gzipSync(program, { level: 9 }).toString('base64'),
    hash: createHash('sha256').update(program).digest('hex'),
  }
}

function hold<Config extends object>(
  session: Session,
  live: KubeObject | undefined,
  { settings, takeOver }: ReplaceInput<Config>,
  on: (event: CommonEvent) => void,
): Promise<HeldLease> {
  const waiting = (holder: string) =>
    on({
      type: 'note',
      text: `${holder} held \`${live ? nameOf(live) : settings.name}\`: looks whether it still works`,
    })
  return holdApplication(session, live, settings.name, { takeOver, waiting })
}

/**
 * Returns the user of the image as an earlier mirror has recorded it. Returns an empty object if the facts already
 * contain the user, if there is no application, or if no user is recorded.
 */
function userOf<Config extends object>(
  { live, there }: Target,
  { settings, facts }: ReplaceInput<Config>,
): Pick<MirrorFacts, 'user'> {
  if (facts.user || !live) return {}
  const user = knownUser(there, imageOf(detach(live, settings), settings))
  return user ? { user } : {}
}

async function existingSession({ cluster, namespace, signal }: Session, mirror: string): Promise<unknown> {
  const ref = { apiVersion: 'v1', kind: 'Secret', name: sessionSecretName(mirror), namespace }
  const text = valueAt(await cluster.get(ref, { signal }), ['data', 'session.json'])
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString())
  } catch {
    return undefined
  }
}

const TAKEN = ['Deployment', 'StatefulSet', 'Job', 'CronJob']

function refuseKind({ kind, name }: ObjectRef): void {
  if (TAKEN.includes(kind)) return
  throw new UserError(`a ${kind} cannot have a mirror: \`${kind.toLowerCase()}/${name}\``, {
    hint: 'write `autocreate: true` and an `image` for a development container beside it',
  })
}

function refuseContainer(live: KubeObject, container: string | undefined): void {
  const names = lastingContainers<Json>(detach(live, {}).spec).map(({ name }) => String(name))
  if (container === undefined || names.includes(container)) return
  throw new UserError(`\`${nameOf(live)}\` has no container \`${container}\``, {
    hint: `its containers are ${names.map(name => `\`${name}\``).join(', ')}`,
  })
}

/** Throws a UserError if another session has taken the application, even if that session no longer runs. */
function refuseOther<Config extends object>(
  live: KubeObject | undefined,
  session: Session,
  { takeOver }: ReplaceInput<Config>,
): void {
  const record = upRecordOf(live)
  if (!live || !record || takeOver || record.isRestored || record.by === personOf(session)) return
  throw new UserError(`\`${nameOf(live)}\` already has a development container`, {
    notes: [`${record.by} has taken it at ${record.since}`],
    hint: 'wait until it is given back, or take it over with `--take-over`',
  })
}

function wasDeleted({ kind, name }: ObjectRef): UserError {
  const what = `${kind.toLowerCase()}/${name}`
  return new UserError(`\`${what}\` was deleted`, { hint: '`devctl deploy` creates it again' })
}

function argoWarning(live: KubeObject): CommonEvent {
  return {
    type: 'warning',
    text: `Argo CD applies \`${nameOf(live)}\`: with self-heal it scales it up again`,
    hint: 'add `/spec/replicas` to `ignoreDifferences` of the Application, or pause its automated sync',
  }
}

function described(live: KubeObject | undefined, record: UpRecord, mirror: string): string {
  if (!live) return `deployment/${mirror}`
  const { path, value } = scaleField(live)
  const before = record.before.find(one => one.path.join() === path.join())?.value
  return live.kind === 'Job' || live.kind === 'CronJob'
    ? `${nameOf(live)} suspended, mirror deployment/${mirror}`
    : `${nameOf(live)} ${before} → ${value} replicas, mirror deployment/${mirror}`
}
