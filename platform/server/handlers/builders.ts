import type { builderRoutes } from '../../api/builders.ts'
import type { PlatformUser } from '../../records/user.ts'
import { placeFor } from '../../rules/registry/registry-access.ts'
import { SharedBudget } from '../../rules/shared-budget.ts'
import { serveBuilds } from '../builds/build-tunnel.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { stillAllowed } from '../http/caller.ts'
import { noNamespace, PlatformError } from '../http/platform-error.ts'
import { pullPlaces } from '../registry/registry-tokens.ts'
import type { HandlersOf } from './handler.ts'

/** Length of the random key of a connection, in bytes. */
const KEY = 32
/** Maximum number of concurrent connections: of one user, and in total. */
const CONNECTIONS = { ofOne: 16, ofAll: 128 }
/**
 * Memory budget, in bytes, for all requests that are being read or wait for a builder. One user gets at most half of
 * it.
 */
const REQUESTS = 16 * 1024 * 1024

export function builderHandlers(
  world: ServerContext,
  parts: Pick<Services, 'users' | 'tokens' | 'namespaces' | 'pools'>,
): HandlersOf<typeof builderRoutes> {
  const open = new Map<string, number>()
  let all = 0
  const requests = new SharedBudget(REQUESTS)
  const { registry } = world.settings
  return {
    'GET /builders/connect': async ({ query, by }) => {
      const name = query.namespace
      const mayBuild = (user: PlatformUser) => parts.namespaces.require(user, name, 'deploy', `build for \`${name}\``)
      const { namespace } = await mayBuild(by.user)
      const { uid } = namespace
      if (uid === undefined) throw noNamespace(name)
      const isFork = by.token.trust === 'fork' || namespace.isUntrusted === true
      const pool = isFork ? parts.pools.untrusted : parts.pools.default
      if (!pool && isFork)
        throw new PlatformError(404, 'no-builders', 'the platform has no builders for code of forks', {
          hint: 'a cluster administrator can add some: `devctl platform install --untrusted-builders 1`',
        })
      if (!pool)
        throw new PlatformError(404, 'no-builders', 'the platform has no builders', {
          hint: 'use another builder (`BUILDKIT_HOST`); a cluster administrator can add some: `devctl platform install --builders 1`',
        })
      const user = by.user.id
      if ((open.get(user) ?? 0) >= CONNECTIONS.ofOne)
        throw new PlatformError(429, 'busy', `you have ${CONNECTIONS.ofOne} connections to builders already`)
      if (all >= CONNECTIONS.ofAll)
        throw new PlatformError(503, 'busy', `${CONNECTIONS.ofAll} connections to builders are open already`, {
          hint: 'try again in a moment',
        })
      return stream => {
        open.set(user, (open.get(user) ?? 0) + 1)
        all++
        stream.once('close', () => {
          all--
          const left = open.get(user)! - 1 // it was counted
          if (left > 0) open.set(user, left)
          else open.delete(user)
        })
        serveBuilds(stream, {
          user,
          room: { take: bytes => requests.take(user, bytes), give: bytes => requests.give(user, bytes) },
          scope: {
            namespace: name,
            cache: uid,
            ...(registry !== undefined && { images: { registry, place: placeFor({ name, uid }) } }),
          },
          pool,
          key: world.random(KEY),
          check: async () => {
            const { user } = await stillAllowed(by, parts, world.now())
            await mayBuild(user)
          },
          pulls: async () => {
            const { user } = await stillAllowed(by, parts, world.now())
            return pullPlaces({ ...by, user }, parts.namespaces)
          },
        })
      }
    },
  }
}
