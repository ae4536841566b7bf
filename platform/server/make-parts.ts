import { LiveNamespaces } from './live/live-namespaces.ts'
import { Logins } from './logins.ts'
import { Namespaces } from './namespaces.ts'
import { makeProviders } from './providers/make-providers.ts'
import type { IdentityProvider } from './providers/provider.ts'
import { Sleep } from './sleep.ts'
import { Tokens } from './tokens.ts'
import { UserClusters } from './user-clusters.ts'
import { Users } from './users.ts'
import type { PlatformWorld } from './world.ts'

/** The parts of the server that answer requests. */
export interface PlatformParts {
  readonly users: Users
  readonly tokens: Tokens
  readonly namespaces: Namespaces
  readonly logins: Logins
  readonly live: LiveNamespaces
  readonly providers: ReadonlyMap<string, IdentityProvider>
  readonly sleep: Sleep
}

export function makeParts(world: PlatformWorld): PlatformParts {
  const users = new Users(world)
  return {
    users,
    tokens: new Tokens(world),
    namespaces: new Namespaces(world, users),
    logins: new Logins(world),
    live: new LiveNamespaces(world, new UserClusters(world)),
    providers: makeProviders(world),
    sleep: new Sleep(world),
  }
}
