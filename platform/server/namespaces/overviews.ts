import { hostname } from 'node:os'
import { pause } from '../../../adapters/http/back-off.ts'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../../../environment/forbidden.ts'
import type { PlatformOverview } from '../../api/admin.ts'
import { leaderLease, toLeader } from '../../records/leader.ts'
import { MANAGED_LABEL, RECORD_LABEL, RUNS_NAMESPACE } from '../../records/names.ts'
import { type ManagedNamespace, toNamespace } from '../../records/namespace.ts'
import {
  claimOf,
  isOfWorkload,
  OWN_WORKLOADS,
  type OwnWorkload,
  toOwnWorkload,
  volumeKind,
} from '../../records/own-workload.ts'
import { LIVE_LABEL, type RunRecord, toRun } from '../../records/run.ts'
import { dependencyProblems } from '../../rules/dependencies.ts'
import { SHARED } from '../../rules/registry/registry-access.ts'
import { leftBehind } from '../../rules/registry/registry-disk.ts'
import { healthProblems } from '../../rules/runs/health.ts'
import { decideQueue, type QueuedRun, type QueueLimits } from '../../rules/runs/queue.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'
import type { Pools } from '../builds/builder-pool.ts'
import type { ServerContext } from '../context.ts'
import { readDependencies } from '../leader/dependencies.ts'
import type { TaskFailures } from '../leader/task-failures.ts'
import type { Users } from '../login/users.ts'
import type { RegistryUsage } from '../registry/registry-usage.ts'
import { PART } from '../runs/run-log.ts'
import type { Runs } from '../runs/runs.ts'
import type { NamespaceIndex } from './namespace-index.ts'

/** Maximum number of namespaces with a failed deletion that are listed by name. */
const NAMED = 50
/**
 * Time in milliseconds for which the counts of the run history are cached, and time for which a request waits for new
 * counts.
 */
const COUNTED = 300_000
const PATIENCE = 2_000
/** Name of the server's volume that contains the sealing keys. */
const KEYS_VOLUME = 'keys'

interface OverviewParts {
  readonly users: Users
  readonly runs: Runs
  readonly index: NamespaceIndex
  readonly pools: Pools
  readonly failing: TaskFailures
  readonly registryUsage: RegistryUsage
}

type Own = Readonly<Record<keyof typeof OWN_WORKLOADS, KubeObject | 'gone' | undefined>>

/** The administrators' overview of the platform, from the server's own state and a few requests to the API server. */
export class Overviews {
  readonly #world: ServerContext
  readonly #parts: OverviewParts
  #history: PlatformOverview['disk']['history']
  #countedAt = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | undefined

  constructor(world: ServerContext, parts: OverviewParts) {
    this.#world = world
    this.#parts = parts
  }

  async read(): Promise<PlatformOverview> {
    const { cluster, settings, version, now, sealing } = this.#world
    const { users, runs, failing, registryUsage } = this.#parts
    const [own, lease, people, namespaces, live, history, disk, dependencies] = await Promise.all([
      this.#own(),
      cluster.get(leaderLease),
      users.all(),
      this.#namespaces(),
      runs.list({ isLive: true }),
      this.#countHistory(),
      registryUsage.disk(),
      readDependencies(this.#world),
    ])
    const workloads = Object.values(own).flatMap(one => (one && one !== 'gone' ? [toOwnWorkload(one)] : []))
    const leader = toLeader(lease, now())
    const failed = namespaces
      .filter(({ status }) => status === 'DeleteFailed')
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const counts = countRuns(live)
    const waitingSince = live.filter(({ state }) => state === 'queued').at(-1)?.created
    const startable = nextOf(live, settings.runs)
    return {
      version,
      replica: hostname(),
      ...(leader !== undefined && { leader }),
      workloads: workloads.map(({ name, namespace, ready, wanted }) => ({ name, namespace, ready, wanted })),
      problems: [
        ...healthProblems({
          leader,
          workloads: wantedOf(own, workloads, {
            registry: settings.registry === `images.${settings.domain}`,
            untrustedBuilders: (settings.builders?.untrusted ?? []).some(one =>
              isOfWorkload(one, OWN_WORKLOADS.untrustedBuilders),
            ),
          }),
          failing: failing.all(),
          failed: failed.length,
          ...(disk && { registry: disk }),
          hasRunner: settings.runs !== undefined,
          ...(waitingSince !== undefined && { waiting: now() - Date.parse(waitingSince) }),
          ...(startable && { startable: now() - Date.parse(startable.created) }),
          running: counts.running,
          most: settings.runs?.inAll ?? 0,
        }),
        ...dependencyProblems(dependencies),
      ],
      dependencies: dependencies.map(({ kind, name, address, state, checked }) => ({
        kind,
        name,
        address,
        state,
        ...(checked !== undefined && { checked }),
      })),
      users: {
        all: people.length,
        admins: people.filter(({ role }) => role === 'admin').length,
        suspended: people.filter(({ isSuspended }) => isSuspended).length,
      },
      namespaces: countNamespaces(namespaces),
      failed: failed.slice(0, NAMED).map(({ name, deletion }) => ({
        name,
        ...(deletion?.problem !== undefined && { problem: deletion.problem }),
      })),
      runs: {
        ...counts,
        ...(settings.runs && { most: settings.runs.inAll }),
        ...(waitingSince !== undefined && { waitingSince }),
      },
      pools: this.#pools(),
      ...(settings.registry !== undefined && {
        registry: {
          name: settings.registry,
          isBundled: settings.registry === `images.${settings.domain}`,
          hasTokens: settings.registryTokens === true,
        },
      }),
      disk: {
        claims: claimsOf(own),
        ...(history && { history }),
        ...(disk && {
          registry: { size: disk.size, free: disk.free, left: leftBehind(namespaces, disk, SHARED) },
        }),
      },
      sealing: { ...keptIn(own.server), ...sealedBy(sealing.numbers()) },
    }
  }

  /**
   * Reads the platform's workloads. A workload is undefined if the server may not read it, because an older
   * installation lacks the permission.
   */
  async #own(): Promise<Own> {
    const look = async (ref: (typeof OWN_WORKLOADS)[keyof typeof OWN_WORKLOADS]) =>
      unlessForbidden(
        this.#world.cluster.get(ref).then(found => found ?? ('gone' as const)),
        undefined,
      )
    const [server, registry, builders, untrustedBuilders] = await Promise.all([
      look(OWN_WORKLOADS.server),
      look(OWN_WORKLOADS.registry),
      look(OWN_WORKLOADS.builders),
      look(OWN_WORKLOADS.untrustedBuilders),
    ])
    return { server, registry, builders, untrustedBuilders }
  }

  async #namespaces(): Promise<readonly ManagedNamespace[]> {
    const { index } = this.#parts
    if (index.isListed) return [...index.all()]
    const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
    return (await this.#world.cluster.list(query)).flatMap(one => toNamespace(one) ?? [])
  }

  #pools(): PlatformOverview['pools'] {
    return Object.entries(this.#parts.pools).map(([name, { slots }]) => {
      const { running, waiting, atOnce } = slots.load()
      const builders = [...running].map(([address, count]) => ({ address, running: count }))
      return { name: name as keyof Pools, builders, atOnce, waiting }
    })
  }

  /**
   * Counts the run history again if the cached counts are old. If counting takes long, only the next request gets the
   * new counts.
   */
  async #countHistory(): Promise<PlatformOverview['disk']['history']> {
    if (!this.#counting && this.#world.now() - this.#countedAt > COUNTED)
      this.#counting = this.#count()
        .catch(() => {})
        .finally(() => {
          this.#counting = undefined
        })
    if (this.#counting) await Promise.race([this.#counting, pause(PATIENCE, undefined)])
    return this.#history
  }

  /** Counts the runs page by page, because there can be very many. */
  async #count(): Promise<void> {
    const labels = `${RECORD_LABEL}=run,!${LIVE_LABEL}`
    const query = { apiVersion: 'batch/v1', kind: 'Job', namespace: RUNS_NAMESPACE, labels }
    let [runs, logs] = [0, 0]
    for await (const page of this.#world.cluster.pages(query))
      for (const one of page) {
        runs++
        logs += toRun(one)?.found.log?.parts ?? 0
      }
    this.#history = { runs, logs, most: logs * PART }
    this.#countedAt = this.#world.now()
  }
}

const countRuns = (live: readonly RunRecord[]) => ({
  queued: live.filter(({ state }) => state === 'queued').length,
  running: live.filter(({ state }) => state === 'running' || state === 'stopping').length,
})

/** Returns the run that starts next; undefined if none may start. */
function nextOf(live: readonly RunRecord[], limits: QueueLimits | undefined): RunRecord | undefined {
  const queue = live.filter(({ state }) => !hasEnded(state)) as readonly (RunRecord & QueuedRun)[] // of these states only
  const [next] = limits ? decideQueue(queue, limits).start : []
  return queue.find(({ id }) => id === next)
}

function countNamespaces(all: readonly ManagedNamespace[]): PlatformOverview['namespaces'] {
  const of = (...statuses: readonly ManagedNamespace['status'][]) =>
    all.filter(({ status }) => statuses.includes(status)).length
  return {
    all: all.length,
    awake: of('Active', 'Waking'),
    asleep: of('Sleeping'),
    deleting: of('Deleting'),
    failed: of('DeleteFailed'),
    previews: all.filter(({ kind }) => kind === 'preview').length,
  }
}

/**
 * Returns the workloads that exist, by name. The values of workloads that are missing but should exist are undefined.
 */
function wantedOf(
  own: Own,
  workloads: readonly OwnWorkload[],
  named: Readonly<Record<'registry' | 'untrustedBuilders', boolean>>,
) {
  const isWanted = { server: true, builders: true, ...named }
  const gone = Object.entries(OWN_WORKLOADS).filter(
    ([key]) => own[key as keyof Own] === 'gone' && isWanted[key as keyof Own],
  )
  return Object.fromEntries<OwnWorkload | undefined>([
    ...workloads.map(one => [one.name, one] as const),
    ...gone.map(([, { kind, name }]) => [`${kind.toLowerCase()}/${name}`, undefined] as const),
  ])
}

const claimsOf = ({ builders, registry }: Own): PlatformOverview['disk']['claims'] =>
  [builders, registry].flatMap(one => {
    const each = one && one !== 'gone' ? claimOf(one) : undefined
    if (!one || one === 'gone' || each === undefined) return []
    const { name, wanted } = toOwnWorkload(one)
    return [{ of: name, each, count: wanted }]
  })

/** Returns where the keys are stored: in a Secret of the same cluster, or in another kind of volume. */
function keptIn(server: Own['server']): Pick<PlatformOverview['sealing'], 'kept'> {
  const kind = server && server !== 'gone' ? volumeKind(server, KEYS_VOLUME) : undefined
  return kind === undefined ? {} : { kept: kind === 'secret' ? 'secret' : 'volume' }
}

const sealedBy = ({ seals, opens }: ReturnType<ServerContext['sealing']['numbers']>) => ({ seals, opens: [...opens] })
