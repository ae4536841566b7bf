import type { registryRoutes } from '../../api/registry.ts'
import { rfc3339 } from '../../records/names.ts'
import { parseScopes, splitRegistry } from '../../rules/registry/registry-access.ts'
import { gibibytes } from '../../rules/registry/registry-disk.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { noNamespace, PlatformError } from '../http/platform-error.ts'
import { registryToken, TOKEN_SECONDS } from '../registry/registry-key.ts'
import { registryPassword } from '../registry/registry-logins.ts'
import { accessFor } from '../registry/registry-tokens.ts'
import type { HandlersOf } from './handler.ts'

/** Maximum lifetime of a login to the registry in milliseconds: as long as the longest build. */
const LOGIN = 3_600_000
/** Length of the random id of a registry token, in bytes. */
const ID = 12

export function registryHandlers(
  world: ServerContext,
  parts: Pick<Services, 'users' | 'namespaces' | 'registryUsage'>,
): HandlersOf<typeof registryRoutes> {
  const { settings, registryKey: key, now, random } = world
  const { registry } = settings
  const required = () => {
    if (registry !== undefined && key) return { registry, key, ...splitRegistry(registry) }
    throw new PlatformError(404, 'no-registry', 'the platform issues no tokens for a registry', {
      hint: 'a cluster administrator can set one up: `devctl platform install --registry HOST --registry-tokens`',
    })
  }
  return {
    'GET /registry/token': async ({ query, puller }) => {
      const { registry, key, host } = required()
      const { service = host, scope = [] } = query
      if (service !== host) throw new PlatformError(400, 'registry', `tokens are only for the registry \`${host}\``)
      const wanted = parseScopes([scope].flat())
      if (!wanted) throw new PlatformError(400, 'registry', 'there are too many scopes, or none')
      const at = now()
      const access = await accessFor(puller, wanted, registry, parts)
      const subject = puller.kind === 'pods' ? `pods of ${puller.namespace.name}` : puller.by.user.login
      const content = { issuer: settings.url, service: host, subject, access, now: at }
      const token = await registryToken(key, content, random(ID).toString('base64url'))
      return { token, access_token: token, expires_in: TOKEN_SECONDS, issued_at: rfc3339(at) }
    },
    'POST /namespaces/:ns/registry-login': async ({ params, by }) => {
      const { host } = required()
      const { ns: name } = params
      const { namespace } = await parts.namespaces.require(by.user, name, 'deploy', `push images of \`${name}\``)
      const { uid } = namespace
      if (uid === undefined) throw noNamespace(name)
      // Refused here, with a reason, because the registry itself could only report that access is denied.
      const full = await parts.registryUsage.full(namespace)
      if (full)
        throw new PlatformError(
          409,
          'quota',
          `the images of the owner of \`${name}\` use ${gibibytes(full.used)} of the registry; the limit is ${gibibytes(full.most)}`,
          { hint: 'ask an administrator to remove unused images, or to raise `registryShare`' },
        )
      const ends = Math.min(now() + LOGIN, Date.parse(by.token.expires))
      const password = registryPassword(world, {
        namespace: { name, uid },
        by: { user: by.user.id, token: by.token.id },
        ends,
      })
      // The user names of CI jobs contain colons. Registry clients would split such a name at the colon and send the
      // second half as part of the password.
      return { registry: host, username: by.user.login.replaceAll(':', '-'), password, expires: rfc3339(ends) }
    },
  }
}
