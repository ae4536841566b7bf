import Type from 'typebox'
import { namespaceName, time } from './common.ts'
import { route } from './route.ts'

/**
 * Query parameters of a token request. Registry clients also send `account`, `client_id` and `offline_token`, which are
 * ignored.
 */
const wanted = Type.Object({
  service: Type.Optional(Type.String({ maxLength: 300 })),
  scope: Type.Optional(
    Type.Union([Type.String({ maxLength: 8192 }), Type.Array(Type.String({ maxLength: 8192 }), { maxItems: 20 })]),
  ),
})

/** Response with a token, as registries specify it: https://distribution.github.io/distribution/spec/auth/token/ */
const registryToken = Type.Object({
  token: Type.String(),
  access_token: Type.String(),
  expires_in: Type.Integer({ description: 'in seconds' }),
  issued_at: time,
})

const registryLogin = Type.Object({
  registry: Type.String({ description: 'the host' }),
  username: Type.String(),
  password: Type.String({ description: 'only for the images of this namespace and the shared ones' }),
  expires: time,
})

/** Routes for access to images (design, section 9). */
export const registryRoutes = {
  'GET /registry/token': route({
    caller: 'registry',
    query: wanted,
    reply: registryToken,
    isForRuns: true,
    isSecret: true,
  }),
  'POST /namespaces/:ns/registry-login': route({
    caller: 'user',
    params: Type.Object({ ns: namespaceName }),
    reply: registryLogin,
    isForRuns: true,
    isSecret: true,
    audit: 'log in to the registry',
  }),
} as const
