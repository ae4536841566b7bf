import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { ServerContext } from '../context.ts'
import type { Accounts, Identified } from './caller.ts'
import { kubeToken } from './kube-token.ts'

/** Clients that are kept; the least recently used one is dropped first. */
const MOST = 500
/** Milliseconds for which one is kept: a little less than the lifetime of its token of Kubernetes. */
const LIFE = 3_000_000
/** Milliseconds before its expiry at which a token of Kubernetes is replaced. */
const MARGIN = 300_000

interface Kept {
  readonly cluster: Cluster
  readonly until: number
}

/**
 * Clients of the cluster with the rights of a caller instead of the server's: the API server decides what they may
 * read. Their tokens of Kubernetes are bound to the caller's token of the platform, and end with it; there is no other
 * one for a caller who would be refused now.
 */
export class UserClusters {
  readonly #world: ServerContext
  readonly #accounts: Accounts
  /** Clusters by the id of the platform token, the most recently used one last. */
  readonly #kept = new Map<string, Kept>()

  constructor(world: ServerContext, accounts: Accounts) {
    this.#world = world
    this.#accounts = accounts
  }

  of(by: Identified): Cluster {
    const { id } = by.token
    const now = this.#world.now()
    const known = this.#kept.get(id)
    const one = known && known.until > now ? known : this.#open(by, now)
    this.#kept.delete(id)
    this.#kept.set(id, one)
    for (const [other] of this.#kept) {
      if (this.#kept.size <= MOST) break
      this.#kept.delete(other)
    }
    return one.cluster
  }

  #open(by: Identified, now: number): Kept {
    const { clusterAs } = this.#world
    let last: Awaited<ReturnType<typeof kubeToken>> | undefined
    const token = async (fresh: boolean): Promise<string> => {
      if (fresh || !last || Date.parse(last.expires) - this.#world.now() < MARGIN)
        last = await kubeToken(this.#world, this.#accounts, by)
      return last.token
    }
    return {
      cluster: clusterAs(token, `\`${by.user.login}\``),
      until: Math.min(now + LIFE, Date.parse(by.token.expires)),
    }
  }
}
