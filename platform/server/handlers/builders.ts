import type { builderRoutes } from '../../api/builders.ts'
import type { PlatformUser } from '../../records/user.ts'
import { placeFor } from '../../rules/registry-access.ts'
import { serveBuilds } from '../builds/build-tunnel.ts'
import { stillAllowed } from '../caller.ts'
import type { PlatformParts } from '../make-parts.ts'
import { noNamespace, PlatformError } from '../platform-error.ts'
import type { PlatformWorld } from '../world.ts'
import type { HandlersOf } from './handler.ts'

/** Bytes of the random key of one connection. */
const KEY = 32
/** Concurrent connections of one person. */
const CONNECTIONS = 16

export function builderHandlers(world: PlatformWorld, parts: PlatformParts): HandlersOf<typeof builderRoutes> {
  const open = new Map<string, number>()
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
          hint: 'the administrator of the cluster brings some: `devctl platform install --untrusted-builders 1`',
        })
      if (!pool)
        throw new PlatformError(404, 'no-builders', 'the platform has no builders', {
          hint: 'build with another builder (`BUILDKIT_HOST`); the administrator of the cluster brings some: `devctl platform install --builders 1`',
        })
      if ((open.get(by.user.id) ?? 0) >= CONNECTIONS)
        throw new PlatformError(429, 'busy', `you have ${CONNECTIONS} connections to builders already`)
      return stream => {
        open.set(by.user.id, (open.get(by.user.id) ?? 0) + 1)
        stream.once('close', () => open.set(by.user.id, open.get(by.user.id)! - 1))
        serveBuilds(stream, {
          user: by.user.id,
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
        })
      }
    },
  }
}
