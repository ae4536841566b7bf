import type { ServerContext } from '../../context.ts'
import { githubProvider } from './github.ts'
import { oidcProvider } from './oidc.ts'
import type { IdentityProvider } from './provider.ts'

/** Returns the configured identity providers, by id. */
export function makeProviders(world: ServerContext): ReadonlyMap<string, IdentityProvider> {
  const { settings, now, clientSecret } = world
  return new Map(
    settings.providers.map(one => {
      const around = {
        callback: `${settings.url}/login/${one.id}/callback`,
        clientSecret: () => clientSecret(one.id),
        now,
      }
      return [one.id, one.kind === 'oidc' ? oidcProvider(one, around) : githubProvider(one, around)]
    }),
  )
}
