import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import type { ServerContext } from '../context.ts'
import type { Identified } from '../http/caller.ts'
import type { LiveNamespaces } from '../live/live-namespaces.ts'
import { eachNamespace } from '../namespaces/each-namespace.ts'
import { roleIn } from '../namespaces/shared-namespace.ts'
import type { ShownPreview } from './previews.ts'

/** Previews whose URLs are read for one list: those that were used last. */
const MOST = 100
/** Milliseconds for which URLs are kept: pages ask for the list every few seconds. */
const LIFE = 30_000
/** URLs that are kept, by preview and caller. */
const MOST_KEPT = 2000
/** Milliseconds for reading all of them: the list waits no longer, and has those that were read by then. */
const DEADLINE = 3000

interface Kept {
  readonly urls: readonly string[]
  readonly until: number
}

/** The public URLs of previews in a list, read with the rights of the caller. */
export class PreviewUrls {
  readonly #world: Pick<ServerContext, 'now'>
  readonly #live: Pick<LiveNamespaces, 'publicUrls'>
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>()

  constructor(world: Pick<ServerContext, 'now'>, live: Pick<LiveNamespaces, 'publicUrls'>) {
    this.#world = world
    this.#live = live
  }

  /** Returns the URLs by the names of the previews; without those that could not be read. */
  async of(
    by: Identified,
    previews: readonly ShownPreview[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const inside = previews
      // An administrator who is no member sees nothing of it.
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

/** A run that ends has changed the URLs, so they are read again at once. */
const keyOf = ({ token }: Identified, { shared: { namespace }, runs: [run] }: ShownPreview): string =>
  [token.id, namespace.name, namespace.uid, run?.id, run?.state].join('/')
