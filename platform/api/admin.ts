import Type, { type Static } from 'typebox'
import { CI_KINDS } from '../rules/accounts/ci-trust.ts'
import { DEPENDENCY_KINDS } from '../rules/dependencies.ts'
import { oneOf, time } from './common.ts'
import { route } from './route.ts'

const count = Type.Integer({ minimum: 0 })

/** A workload of the platform itself. */
const workload = Type.Object({
  name: Type.String({ description: '`deployment/platform`' }),
  namespace: Type.String(),
  ready: count,
  wanted: count,
})

const dependency = Type.Object({
  kind: oneOf(DEPENDENCY_KINDS),
  name: Type.String(),
  address: Type.String({ description: 'as the settings have it' }),
  state: oneOf(['reached', 'failed', 'unknown'] as const),
  checked: Type.Optional(time),
})

const pool = Type.Object({
  name: oneOf(['default', 'untrusted'] as const),
  builders: Type.Array(Type.Object({ address: Type.String(), running: count })),
  atOnce: Type.Integer({ description: 'builds that each builder runs at the same time' }),
  waiting: Type.Integer({ minimum: 0, description: 'builds that wait for a builder' }),
})

const overview = Type.Object({
  version: Type.String(),
  replica: Type.String({ description: 'the replica that answers' }),
  leader: Type.Optional(Type.String({ description: 'the replica that leads; absent: none leads' })),
  workloads: Type.Array(workload, { description: 'those that the server may see' }),
  problems: Type.Array(Type.Object({ message: Type.String(), hint: Type.Optional(Type.String()) })),
  dependencies: Type.Array(dependency, { description: 'other servers that the platform needs' }),
  users: Type.Object({ all: count, admins: count, suspended: count }),
  namespaces: Type.Object({ all: count, awake: count, asleep: count, deleting: count, failed: count, previews: count }),
  failed: Type.Array(Type.Object({ name: Type.String(), problem: Type.Optional(Type.String()) }), {
    description: 'namespaces that could not be deleted, the first ones',
  }),
  runs: Type.Object({
    queued: count,
    running: count,
    most: Type.Optional(Type.Integer({ description: 'the most runs at the same time' })),
    waitingSince: Type.Optional(time),
  }),
  pools: Type.Array(pool, { description: 'builders, with the builds that go through the replica that answers' }),
  registry: Type.Optional(Type.Object({ name: Type.String(), isBundled: Type.Boolean(), hasTokens: Type.Boolean() })),
  disk: Type.Object({
    claims: Type.Array(Type.Object({ of: Type.String(), each: Type.String(), count })),
    history: Type.Optional(
      Type.Object(
        { runs: count, logs: count, most: Type.Integer({ description: 'bytes of the logs, at most' }) },
        { description: 'ended runs, in the database of the cluster' },
      ),
    ),
    registry: Type.Optional(
      Type.Object(
        {
          size: Type.Integer(),
          free: Type.Integer(),
          left: Type.Integer({ description: 'bytes of images of deleted namespaces' }),
        },
        { description: 'the disk of the bundled registry, in bytes' },
      ),
    ),
  }),
  sealing: Type.Object({
    kept: Type.Optional(oneOf(['secret', 'volume'] as const)),
    seals: Type.Integer({ description: 'the number of the key that seals' }),
    opens: Type.Array(Type.Integer()),
  }),
})
/** The state of a platform, for its administrators. */
export type PlatformOverview = Static<typeof overview>

const hours = Type.Object({ namespace: Type.Number(), preview: Type.Number() })
const addresses = Type.Array(Type.String())

const settings = Type.Object({
  domain: Type.String(),
  url: Type.String(),
  kubernetes: Type.String({ description: 'the address of the API server for users' }),
  namespacesPerUser: count,
  previewsPerUser: count,
  sleepHours: hours,
  deleteHours: hours,
  runs: Type.Optional(
    Type.Object({
      image: Type.String(),
      perUser: count,
      inAll: count,
      deadline: Type.Integer({ description: 'seconds' }),
    }),
  ),
  providers: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      kind: oneOf(['oidc', 'github'] as const),
      address: Type.String(),
      allow: Type.Array(Type.String(), { description: 'who may log in; empty: everyone at the provider' }),
    }),
  ),
  ci: Type.Array(
    Type.Object({
      kind: oneOf(CI_KINDS),
      issuer: Type.String(),
      rules: Type.Array(
        Type.Object({
          repository: Type.Optional(Type.String()),
          owner: Type.Optional(Type.String()),
          ref: Type.Optional(Type.String()),
          event: Type.Optional(Type.String()),
          prefix: Type.String(),
        }),
      ),
    }),
    { description: 'CI jobs that get tokens, and their previews' },
  ),
  builders: Type.Optional(
    Type.Object({ default: addresses, untrusted: addresses, atOnce: count, oneNamespace: Type.Boolean() }),
  ),
  registry: Type.Optional(Type.String()),
  registryTokens: Type.Boolean(),
  clusterNetworks: addresses,
  privateNetworks: addresses,
  trustedProxies: addresses,
})
/** The configuration of a platform, without secrets. */
export type ShownSettings = Static<typeof settings>

/** Routes for administrators. The server cannot change its own settings, so there is no route for that. */
export const adminRoutes = {
  'GET /admin/overview': route({ caller: 'admin', reply: overview }),
  'GET /settings': route({ caller: 'admin', reply: settings }),
} as const
