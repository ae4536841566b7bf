import { Slots } from '../../../adapters/http/slots.ts'
import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { kindsOf } from '../../../constructs/kinds.ts'
import type { LiveEvent, LogLineEvent, SeenEvents } from '../../api/environments.ts'
import { SharedBudget } from '../../rules/shared-budget.ts'
import type { ServerContext } from '../context.ts'
import type { StreamEvent } from '../handlers/handler.ts'
import { isUnavailable } from '../http/authorized-stream.ts'
import { type Accounts, type Identified, stillAllowed } from '../http/caller.ts'
import { OpenStreams } from '../http/open-streams.ts'
import { noNamespace, onlyFor, PlatformError } from '../http/platform-error.ts'
import type { UserClusters } from '../http/user-clusters.ts'
import { PersonalSlots } from '../login/personal-slots.ts'
import type { NamespaceIndex } from '../namespaces/namespace-index.ts'
import { type EnvironmentNames, environmentNames } from './environment-names.ts'
import { logStream, type WantedLogs } from './log-stream.ts'
import { NamespaceView } from './namespace-view.ts'
import type { Room } from './object-cache.ts'
import { publicUrls } from './public-urls.ts'
import { workloadEvents } from './workload-events.ts'

/** Maximum number of namespaces that are watched at the same time: for one user, and in total. */
const MOST_OF_ONE = 30
const MOST = 1000
/** Time in milliseconds for which a namespace without viewers is still watched, because users reload pages. */
const LINGER = 10_000
/** Timeout for the initial lists, in milliseconds. */
const FIRST = 15_000
/**
 * Maximum number of concurrent streams, and of concurrent log streams. A log stream buffers lines, and has a connection
 * for every container.
 */
const VIEWS = { ofOne: 100, ofAll: 2000, what: 'streams' }
const LOGS = { ofOne: 8, ofAll: 100, what: 'logs' }
/**
 * Memory budget, in characters, for the cached data of all namespaces: objects, recent events, and Pods whose logs are
 * followed. One user gets at most half of it, and less if other users need much.
 */
const KEPT = 32 * 1024 * 1024
/**
 * Memory budget, in characters, for events that clients have not received yet, including their copies. One user gets at
 * most half of it.
 */
const SENDING = 32 * 1024 * 1024
/**
 * Maximum number of namespaces whose names or URLs are read at the same time for one user, across all of the user's
 * requests.
 */
const READ_TOGETHER = 2
/**
 * Maximum number of services whose failures are explained at the same time. There is a limit because each explanation
 * reads logs.
 */
const EXPLAINED = { ofOne: 2, ofAll: 8 }
/**
 * Interval between two checks of a viewer's rights, in milliseconds. The checks are needed because a watch continues
 * after rights were revoked.
 */
const CHECKING = 5000

interface Kept {
  readonly view: NamespaceView
  readonly user: string
  users: number
  leaving?: NodeJS.Timeout | undefined
}

/**
 * The namespaces that users are viewing. Each combination of login and namespace has one set of watches, regardless of
 * the number of tabs.
 */
export class LiveNamespaces {
  readonly #world: Pick<ServerContext, 'now'>
  readonly #index: Pick<NamespaceIndex, 'find'>
  readonly #clusters: UserClusters
  readonly #accounts: Accounts
  readonly #kept = new Map<string, Kept>()
  readonly #views = new OpenStreams(VIEWS)
  readonly #logs = new OpenStreams(LOGS)
  readonly #room = new SharedBudget(KEPT)
  readonly #reading = new PersonalSlots(READ_TOGETHER)
  readonly #explaining = { ofOne: new PersonalSlots(EXPLAINED.ofOne), ofAll: new Slots(EXPLAINED.ofAll) }
  readonly #sending = new SharedBudget(SENDING)

  constructor(
    world: Pick<ServerContext, 'now'>,
    clusters: UserClusters,
    accounts: Accounts,
    index: Pick<NamespaceIndex, 'find'>,
  ) {
    this.#world = world
    this.#index = index
    this.#clusters = clusters
    this.#accounts = accounts
  }

  /**
   * Yields the state of a namespace and its changes, for as long as the caller may see it. Throws a PlatformError if
   * there are too many streams.
   */
  follow(by: Identified, namespace: string, signal: AbortSignal): AsyncGenerator<StreamEvent<LiveEvent>> {
    this.#views.check(by.user.id)
    const events = this.#stream(by, namespace, signal, async function* (view, open) {
      for await (const data of view.follow(open)) yield { data }
    })
    return this.#views.counted(by.user.id, events)
  }

  /**
   * Yields the logs of services, for as long as the caller may see the namespace. Throws a PlatformError if there are
   * too many streams.
   */
  logs(
    by: Identified,
    wanted: Omit<WantedLogs, 'cluster' | 'now' | 'room'>,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent<LogLineEvent>> {
    this.#logs.check(by.user.id)
    const room = roomIn(this.#room, by.user.id)
    const all = { ...wanted, room, cluster: this.#clusters.of(by), now: () => this.#world.now() }
    const events = this.#stream(by, wanted.namespace, signal, (_, open) => logStream(all, open))
    return this.#logs.counted(by.user.id, events)
  }

  /** Returns the events of a workload. Throws a PlatformError if the caller may not see the workload. */
  events(by: Identified, namespace: string, workload: string, signal: AbortSignal): Promise<SeenEvents> {
    return this.#read(by, namespace, signal, open => workloadEvents(this.#clusters.of(by), namespace, workload, open))
  }

  /**
   * Returns the names of the environments and services in a namespace, without opening watches. Throws a PlatformError
   * if the caller may not see the namespace.
   */
  environmentNames(by: Identified, namespace: string, signal: AbortSignal): Promise<readonly EnvironmentNames[]> {
    return this.#readInTurn(by, namespace, signal, open => environmentNames(this.#clusters.of(by), namespace, open))
  }

  /**
   * Returns the public URLs of a namespace, without opening watches. Throws a PlatformError if the caller may not see
   * the namespace.
   */
  publicUrls(by: Identified, namespace: string, signal: AbortSignal): Promise<readonly string[]> {
    return this.#readInTurn(by, namespace, signal, open => publicUrls(this.#clusters.of(by), namespace, open))
  }

  /**
   * Returns a workload with all of its fields, by its kubectl name; undefined if it does not exist. Throws a
   * PlatformError if the caller may not see the workload.
   */
  workload(by: Identified, namespace: string, name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    const [kind, own = ''] = name.split('/')
    const found = kindsOf('workload').find(one => one.kind.toLowerCase() === kind)
    if (!found) return Promise.resolve(undefined)
    const ref = { apiVersion: found.apiVersion, kind: found.kind, namespace, name: own }
    return this.#read(by, namespace, signal, open => this.#clusters.of(by).get(ref, { signal: open }))
  }

  /** Runs a read of a namespace's objects as soon as one of the caller's slots is free. */
  #readInTurn<T>(
    by: Identified,
    namespace: string,
    signal: AbortSignal,
    ask: (open: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#reading.run(by.user.id, signal, () => this.#read(by, namespace, signal, ask))
  }

  /**
   * Makes one request to the cluster, with a deadline. Throws a PlatformError if the caller may not see the namespace.
   */
  async #read<T>(
    by: Identified,
    namespace: string,
    signal: AbortSignal,
    ask: (open: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const leave = new AbortController()
    try {
      return await withDeadline(ask(AbortSignal.any([signal, leave.signal])))
    } catch (error) {
      throw refusalOf(error, by, namespace)
    } finally {
      leave.abort()
    }
  }

  /** Yields events until the client disconnects or loses its rights. In both cases the stream ends without an error. */
  async *#stream<T>(
    by: Identified,
    namespace: string,
    signal: AbortSignal,
    events: (view: NamespaceView, open: AbortSignal) => AsyncGenerator<StreamEvent<T>>,
  ): AsyncGenerator<StreamEvent<T>> {
    const leave = new AbortController()
    try {
      const view = this.enter(by, namespace, leave.signal)
      const open = AbortSignal.any([signal, view.ended])
      try {
        yield* events(view, open)
      } catch (error) {
        if (!open.aborted) throw error
      }
    } finally {
      leave.abort()
    }
  }

  /**
   * Runs `work` with the view of a namespace, with the rights of a caller. Throws a PlatformError if the caller has no
   * rights in the namespace.
   */
  async look<T>(by: Identified, namespace: string, work: (view: NamespaceView) => Promise<T>): Promise<T> {
    const leave = new AbortController()
    const view = this.enter(by, namespace, leave.signal)
    try {
      return await withDeadline(work(view))
    } catch (error) {
      throw refusalOf(error, by, namespace)
    } finally {
      leave.abort()
    }
  }

  /** Returns the view of a namespace, which is kept open until the signal is aborted. */
  enter(by: Identified, namespace: string, signal: AbortSignal): NamespaceView {
    const key = `${by.token.id}/${namespace}`
    const kept = this.#kept.get(key) ?? this.#open(key, by, namespace)
    kept.users++
    clearTimeout(kept.leaving)
    const leave = () => {
      kept.users--
      if (kept.users > 0) return
      kept.leaving = setTimeout(() => kept.view.end(new Error('nobody looks')), LINGER).unref()
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return kept.view
  }

  /** Closes all views when the server stops. */
  close(): void {
    for (const { view, leaving } of this.#kept.values()) {
      clearTimeout(leaving)
      view.end(new Error('the server ends'))
    }
  }

  #open(key: string, by: Identified, namespace: string): Kept {
    const user = by.user.id
    this.#makeRoom(user)
    const view = new NamespaceView(this.#clusters.of(by), namespace, {
      now: () => this.#world.now(),
      isAsleep: () => this.#index.find(namespace)?.status === 'Sleeping',
      ...roomIn(this.#room, user),
      sending: roomIn(this.#sending, user),
      explain: task => this.#explain(user, view.ended, task),
    })
    const kept: Kept = { view, user, users: 0 }
    this.#kept.set(key, kept)
    const checking = setInterval(() => void this.#check(kept, by, namespace), CHECKING).unref()
    view.ended.addEventListener('abort', () => {
      clearInterval(checking)
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
    })
    return kept
  }

  /**
   * Ends a view if a request of its caller would be refused now, or the caller has lost their rights in the namespace.
   * A view without viewers, which is kept for the next request, is also checked.
   */
  async #check({ view }: Kept, by: Identified, namespace: string): Promise<void> {
    try {
      await stillAllowed(by, this.#accounts, this.#world.now())
      if (!(await mayLook(this.#clusters.of(by), namespace))) view.end(new Error('no rights'))
    } catch (error) {
      if (!isUnavailable(error)) view.end(error)
    }
  }

  /** Runs a task as soon as a slot of the user is free, unless the view has ended by then. */
  #explain<T>(user: string, ended: AbortSignal, task: () => Promise<T>): Promise<T> {
    const { ofOne, ofAll } = this.#explaining
    return ofOne.run(user, ended, () => ofAll.run(ended, task))
  }

  /** Ends a view without viewers if there are too many views. Throws a PlatformError if all views have viewers. */
  #makeRoom(user: string): void {
    const all = [...this.#kept.values()]
    const own = all.filter(one => one.user === user)
    if (own.length >= MOST_OF_ONE) endIdle(own, tooManyOfOne)
    else if (all.length >= MOST) endIdle(all, tooMany)
  }
}

/** Ends one view without viewers. Throws the given error if there is none. */
function endIdle(all: readonly Kept[], refusal: () => PlatformError): void {
  const idle = all.find(({ users }) => users === 0)
  if (!idle) throw refusal()
  idle.view.end(new Error('others look'))
}

const tooManyOfOne = () =>
  new PlatformError(429, 'busy', `you are already watching ${MOST_OF_ONE} namespaces`, {
    hint: 'close some pages, or stop commands that follow logs',
  })

const tooMany = () =>
  new PlatformError(503, 'busy', 'too many namespaces are being watched', { hint: 'try again in a moment' })

/** Returns a budget for one user, which takes its memory from a shared budget. */
const roomIn = (budget: SharedBudget, user: string): Room => ({
  take: size => budget.take(user, size),
  give: size => budget.give(user, size),
})

async function mayLook(cluster: Cluster, namespace: string): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    // The token identifies the caller, so the review has no name.
    metadata: {} as KubeObject['metadata'],
    spec: { resourceAttributes: { namespace, verb: 'watch', resource: 'pods' } },
  }
  const { status } = await cluster.create(review, { signal: AbortSignal.timeout(CHECKING) })
  return (status as { readonly allowed?: boolean } | undefined)?.allowed === true
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ClusterError('unavailable', 'the cluster has not answered in time')), FIRST)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the error response for the reason why a view has ended. */
export function refusalOf(error: unknown, { user }: Identified, namespace: string): unknown {
  if (!(error instanceof ClusterError)) return error
  if (error.failure === 'not-found') return noNamespace(namespace)
  if (error.failure !== 'forbidden') return error
  return user.role === 'admin' ? onlyFor('see what runs there', `a member of \`${namespace}\``) : noNamespace(namespace)
}
