import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import type { ServerContext } from '../context.ts'
import type { Accounts, Identified } from './caller.ts'
import { kubeToken } from './kube-token.ts'

/** Maximum number of cached clients. The least recently used client is dropped first. */
const MOST = 500
/** Time in milliseconds for which a client is cached: a little less than the lifetime of its Kubernetes token. */
const LIFE = 3_000_000
/** Time in milliseconds before the expiry of a Kubernetes token at which the token is replaced. */
const MARGIN = 300_000

interface Kept {
  readonly cluster: Cluster
  readonly until: number
}

/**
 * Kubernetes clients with the rights of a caller instead of the server's rights, so that the API server decides what
 * the caller may read. The clients' Kubernetes tokens are bound to the caller's platform token and end with it. A
 * caller who may no longer use the platform gets no new Kubernetes token.
 */
export class UserClusters {
  readonly #world: ServerContext
  readonly #accounts: Accounts
  /** Clients by the id of the platform token, least recently used first. */
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
