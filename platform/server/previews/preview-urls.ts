import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import type { ServerContext } from '../context.ts'
import type { Identified } from '../http/caller.ts'
import type { LiveNamespaces } from '../live/live-namespaces.ts'
import { eachNamespace } from '../namespaces/each-namespace.ts'
import { roleIn } from '../namespaces/shared-namespace.ts'
import type { ShownPreview } from './previews.ts'

/** Maximum number of previews in a list whose URLs are read; the most recently used ones are read first. */
const MOST = 100
/** Time in milliseconds for which URLs are cached, because pages request the list every few seconds. */
const LIFE = 30_000
/** Maximum number of cached entries. Each preview has an entry for each caller. */
const MOST_KEPT = 2000
/** Timeout for reading all URLs of a list, in milliseconds. URLs that were not read by then are omitted. */
const DEADLINE = 3000

interface Kept {
  readonly urls: readonly string[]
  readonly until: number
}

/** The public URLs of previews in a list, read with the rights of the caller. */
export class PreviewUrls {
  readonly #world: Pick<ServerContext, 'now'>
  readonly #live: Pick<LiveNamespaces, 'publicUrls'>
  /** Cached URLs by the key that `keyOf` returns, oldest first. */
  readonly #kept = new Map<string, Kept>()

  constructor(world: Pick<ServerContext, 'now'>, live: Pick<LiveNamespaces, 'publicUrls'>) {
    this.#world = world
    this.#live = live
  }

  /** Returns the URLs by the name of the preview, without URLs that could not be read. */
  async of(
    by: Identified,
    previews: readonly ShownPreview[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const inside = previews
      // An administrator who is not a member does not see the URLs.
      .filter(({ shared }) => shared.namespace.status !== 'Deleting' && roleIn(shared, by.user))
      .sort((a, b) => (a.shared.namespace.lastActive < b.shared.namespace.lastActive ? 1 : -1))
      .slice(0, MOST)
    const now = this.#world.now()
    const keys = new Map(inside.map(one => [one.shared.namespace.name, keyOf(by, one)]))
    const both = withTimeLimit(DEADLINE, signal)
    const { found } = await eachNamespace([...keys.keys()], async name => {
      const key = keys.get(name) ?? ''
      const kept = this.#kept.get(key)
      if (kept && kept.until > now) return kept.urls
      const urls = await this.#live.publicUrls(by, name, both)
      this.#keep(key, { urls, until: now + LIFE })
      return urls
    })
    return found
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    for (const old of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break
      this.#kept.delete(old)
    }
  }
}

/** Returns the cache key. It contains the last run and its state, because a run that ends may have changed the URLs. */
const keyOf = ({ token }: Identified, { shared: { namespace }, runs: [run] }: ShownPreview): string =>
  [token.id, namespace.name, namespace.uid, run?.id, run?.state].join('/')
