import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import type { Identified } from '../caller.ts'
import { noNamespace, notAllowed, PlatformError } from '../platform-error.ts'
import type { UserClusters } from '../user-clusters.ts'
import type { PlatformWorld } from '../world.ts'
import { Sight } from './sight.ts'

/** Namespaces that are watched at the same time: of one person, and of all. */
const MOST_OF_ONE = 30
const MOST = 1000
/** Milliseconds that a namespace is watched on when nobody looks any more: pages are loaded again. */
const LINGER = 10_000
/** Milliseconds for the first look. */
const FIRST = 15_000

interface Kept {
  readonly sight: Sight
  readonly user: string
  users: number
  leaving?: NodeJS.Timeout | undefined
}

/**
 * The namespaces that people look at just now: one set of watches for a person's login and a namespace,
 * whatever the number of their tabs.
 */
export class LiveNamespaces {
  readonly #world: PlatformWorld
  readonly #clusters: UserClusters
  readonly #kept = new Map<string, Kept>()

  constructor(world: PlatformWorld, clusters: UserClusters) {
    this.#world = world
    this.#clusters = clusters
  }

  /** Looks at a namespace with the rights of a caller. Throws a PlatformError for who has none there. */
  async look<T>(by: Identified, namespace: string, work: (sight: Sight) => Promise<T>): Promise<T> {
    const leave = new AbortController()
    const sight = this.enter(by, namespace, leave.signal)
    try {
      return await withDeadline(work(sight))
    } catch (error) {
      throw refusalOf(error, by, namespace)
    } finally {
      leave.abort()
    }
  }

  /** The sight of a namespace, until the signal is aborted. */
  enter(by: Identified, namespace: string, signal: AbortSignal): Sight {
    const key = `${by.token.id}/${namespace}`
    const kept = this.#kept.get(key) ?? this.#open(key, by, namespace)
    kept.users++
    clearTimeout(kept.leaving)
    const leave = () => {
      kept.users--
      if (kept.users > 0) return
      kept.leaving = setTimeout(() => kept.sight.end(new Error('nobody looks')), LINGER).unref()
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return kept.sight
  }

  /** Ends all, when the server does. */
  close(): void {
    for (const { sight, leaving } of this.#kept.values()) {
      clearTimeout(leaving)
      sight.end(new Error('the server ends'))
    }
  }

  #open(key: string, by: Identified, namespace: string): Kept {
    const user = by.user.id
    this.#makeRoom(user)
    const sight = new Sight(this.#clusters.of(by), namespace, () => this.#world.now())
    const kept: Kept = { sight, user, users: 0 }
    this.#kept.set(key, kept)
    sight.ended.addEventListener('abort', () => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
    })
    return kept
  }

  /** Ends one that nobody looks at where there are too many. Throws a PlatformError if there is none. */
  #makeRoom(user: string): void {
    const own = [...this.#kept.values()].filter(one => one.user === user)
    const [all, most] = own.length >= MOST_OF_ONE ? [own, MOST_OF_ONE] : [[...this.#kept.values()], MOST]
    if (all.length < most) return
    const idle = all.find(({ users }) => users === 0)
    if (!idle)
      throw new PlatformError(503, 'busy', 'too many namespaces are watched just now', {
        hint: 'close some pages, or try again in a moment',
      })
    idle.sight.end(new Error('others look'))
  }
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

/** What ended a sight, as an answer. */
export function refusalOf(error: unknown, { user }: Identified, namespace: string): unknown {
  if (!(error instanceof ClusterError)) return error
  if (error.failure === 'not-found') return noNamespace(namespace)
  if (error.failure !== 'forbidden') return error
  return user.role === 'admin'
    ? notAllowed('to see what runs there', `a member of \`${namespace}\``)
    : noNamespace(namespace)
}
