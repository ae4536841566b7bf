import Type, { type Static } from 'typebox'
import { closed, namespaceName, time } from './common.ts'
import { byNamespace } from './namespaces.ts'
import { listOf, route } from './route.ts'

/** A position in the deployed files; the path is relative to the root of the repository. */
const place = Type.Object({ file: Type.String(), line: Type.Integer() })
export type ShownPlace = Static<typeof place>

const deployment = Type.Object({
  by: Type.String({ description: 'as they were known where they deployed; not checked' }),
  at: time,
  number: Type.Optional(Type.Integer({ description: 'in the history' })),
  repository: Type.Optional(Type.String({ description: '`git.example.com/team/shop`' })),
  branch: Type.Optional(Type.String()),
  commit: Type.Optional(Type.String()),
  subject: Type.Optional(Type.String({ description: 'the first line of what the commit says' })),
  isDirty: Type.Optional(Type.Boolean({ description: 'with changes that are not committed' })),
})
export type ShownDeploy = Static<typeof deployment>

/** A diagnostic, as a deploy would print it. */
const problem = Type.Object({
  code: Type.String({ description: 'what `devctl explain` explains: `deploy/crash-loop`' }),
  message: Type.String({ description: 'with names in backticks' }),
  hint: Type.Optional(Type.String()),
  notes: Type.Array(Type.String(), { description: 'facts: the words of the cluster; lines of a log begin with `| `' }),
  place: Type.Optional(place),
})
export type ServiceProblem = Static<typeof problem>

const service = Type.Object({
  name: Type.String(),
  state: Type.String({
    description:
      '`ready`, `complete` (a Job that has ended well), `waiting`, `failed`, or `missing`: it is in the files, and not in the cluster',
  }),
  reason: Type.Optional(Type.String({ description: 'why it is not ready, on one line' })),
  kind: Type.Optional(Type.String({ description: '`Deployment`, `StatefulSet`, `DaemonSet`, `Job`' })),
  workload: Type.Optional(Type.String({ description: '`deployment/web`; several services may share one' })),
  ready: Type.Integer(),
  wanted: Type.Integer(),
  restarts: Type.Integer(),
  since: Type.Optional(time),
  image: Type.Optional(Type.String()),
  endpoints: Type.Array(Type.String(), { description: 'public URLs, the shorter ones first' }),
  exposed: Type.Array(Type.String(), { description: 'where it is reached from outside by TCP or UDP' }),
  internal: Type.Array(Type.String(), { description: 'where the cluster reaches it: `web:80`' }),
  development: Type.Optional(Type.String({ description: 'whose development container stands in for it' })),
  dependsOn: Type.Array(
    Type.Object({
      service: Type.String(),
      condition: Type.String({
        description: '`service_started`, `service_healthy` or `service_completed_successfully`',
      }),
    }),
  ),
  place: Type.Optional(place),
  problems: Type.Array(problem),
})
export type ShownService = Static<typeof service>

const summary = {
  name: Type.String(),
  state: Type.String({ description: '`ready`, `waiting`, `failed`; `empty`: nothing of it runs' }),
  deployed: Type.Optional(deployment),
  source: Type.Optional(
    Type.Object({
      repository: Type.String({ description: 'without credentials; outside of one, the name of a folder' }),
      file: Type.String({ description: 'the project, as a path from its top' }),
    }),
  ),
}
const environment = Type.Object({
  ...summary,
  services: Type.Integer(),
  ready: Type.Integer({ description: 'services that are ready, or have ended well' }),
  endpoints: Type.Array(Type.String()),
  problem: Type.Optional(Type.Object({ service: Type.String(), reason: Type.String() })),
})
/** An environment in a list. */
export type ShownEnvironment = Static<typeof environment>

const valueChange = Type.Object({
  path: Type.String({ description: 'of a field: `spec.template.spec.containers[api].image`' }),
  before: Type.Optional(Type.String()),
  after: Type.Optional(Type.String()),
  masked: Type.Optional(Type.String({ description: 'in the place of both values' })),
})
const objectChange = Type.Object({
  action: Type.String({ description: '`create`, `update`, `replace`, `delete`' }),
  object: Type.String({ description: '`deployment/web`' }),
  service: Type.Optional(Type.String()),
  values: Type.Array(valueChange),
  consequence: Type.Optional(Type.String()),
})
const changeList = Type.Object({
  ...deployment.properties,
  number: Type.Integer(),
  changes: Type.Array(objectChange),
  left: Type.Optional(Type.Integer({ description: 'further changes that were too many to be kept' })),
})
/** The changes of one deploy, without secret values. */
export type ShownChanges = Static<typeof changeList>

const environmentDetails = Type.Object({
  ...summary,
  namespace: Type.String(),
  services: Type.Array(service, { description: 'in the order in which they start' }),
  history: Type.Array(changeList, { description: 'the last deploys that changed something, the newest first' }),
  isCut: Type.Optional(Type.Boolean({ description: 'there is more than is looked at' })),
})
export type EnvironmentDetails = Static<typeof environmentDetails>

const liveEvent = Type.Union([
  Type.Object({ type: Type.Literal('snapshot'), environments: Type.Array(environmentDetails) }),
  Type.Object({ type: Type.Literal('environment'), environment: environmentDetails }),
  Type.Object({
    type: Type.Literal('services'),
    environment: Type.String(),
    state: Type.String({ description: 'of the environment' }),
    services: Type.Array(service, { description: 'those that have changed, whole' }),
  }),
  Type.Object({ type: Type.Literal('removed'), environment: Type.String() }),
])
/**
 * The complete state, sent first and whenever a client is too slow; afterwards an environment that is new or was
 * deployed, services that have changed, or an environment that was deleted.
 */
export type LiveEvent = Static<typeof liveEvent>

const logEvent = Type.Union([
  Type.Object({
    type: Type.Literal('line'),
    service: Type.String(),
    source: Type.String({ description: 'the container, in few letters: `web-j2fnt`' }),
    time,
    text: Type.String({ description: 'as the program wrote it; it may have ANSI escapes' }),
  }),
  Type.Object({
    type: Type.Literal('note'),
    service: Type.Optional(Type.String()),
    source: Type.Optional(Type.String()),
    text: Type.String({ description: 'said by the platform, not by the program' }),
  }),
])
/** A line of a log, or a note about the log. */
export type LogLineEvent = Static<typeof logEvent>

const seenEvents = Type.Object({
  items: Type.Array(
    Type.Object({
      isWarning: Type.Optional(Type.Boolean()),
      about: Type.String({ description: '`pod/web-6bbc7c877f-l5m5d`' }),
      time: { ...time, description: 'of the last time' },
      reason: Type.String(),
      message: Type.String(),
      count: Type.Integer({ description: 'how often' }),
    }),
    { description: 'the newest first' },
  ),
  isCut: Type.Optional(Type.Boolean({ description: 'there are more in the namespace than are looked at' })),
})
/** The events of a service. */
export type SeenEvents = Static<typeof seenEvents>

const serviceSettings = Type.Object({
  image: Type.Optional(Type.String()),
  entrypoint: Type.Optional(Type.Array(Type.String(), { description: 'absent: that of the image' })),
  command: Type.Optional(Type.Array(Type.String(), { description: 'absent: that of the image' })),
  directory: Type.Optional(Type.String({ description: 'in which it runs; absent: that of the image' })),
  replicas: Type.Optional(Type.Integer()),
  ports: Type.Array(Type.String(), { description: 'at which it listens: `80`, `53/udp`' }),
  variables: Type.Array(
    Type.Object({
      name: Type.String({ description: 'with `*` at its end: each key of an object' }),
      from: Type.Optional(Type.String({ description: 'the object that holds the value: `secret/db-password`' })),
    }),
    { description: 'without values' },
  ),
  volumes: Type.Array(
    Type.Object({
      path: Type.String(),
      from: Type.Optional(Type.String({ description: '`persistentvolumeclaim/data`' })),
      isReadOnly: Type.Optional(Type.Boolean()),
    }),
  ),
  checks: Type.Array(
    Type.Object({
      kind: Type.String({ description: '`startup`, `readiness` or `liveness`' }),
      does: Type.String(),
      every: Type.Integer({ description: 'seconds' }),
      failures: Type.Integer({ description: 'in a row until it counts' }),
    }),
  ),
  resources: Type.Array(
    Type.Object({
      name: Type.String({ description: '`cpu`, `memory`' }),
      request: Type.Optional(Type.String()),
      limit: Type.Optional(Type.String()),
    }),
  ),
})
/** The settings of a service's container, without the values of its variables. */
export type ServiceSettings = Static<typeof serviceSettings>

const logQuery = closed({
  service: Type.Optional(namespaceName),
  environment: Type.Optional(namespaceName),
  tail: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}$', description: 'lines of each container; 100' })),
})

const byEnvironment = Type.Object({ ns: namespaceName, env: namespaceName })
const byService = Type.Object({ ns: namespaceName, env: namespaceName, service: namespaceName })

/** The contents of namespaces, read with the rights of the caller (design, sections 10 and 11). */
export const environmentRoutes = {
  'GET /namespaces/:ns/environments': route({ caller: 'user', params: byNamespace, reply: listOf(environment) }),
  'GET /namespaces/:ns/environments/:env': route({ caller: 'user', params: byEnvironment, reply: environmentDetails }),
  'GET /namespaces/:ns/environments/:env/services/:service/events': route({
    caller: 'user',
    params: byService,
    reply: seenEvents,
  }),
  'GET /namespaces/:ns/environments/:env/services/:service/settings': route({
    caller: 'user',
    params: byService,
    reply: serviceSettings,
  }),
  'GET /namespaces/:ns/live': route({ caller: 'user', params: byNamespace, events: liveEvent }),
  'GET /namespaces/:ns/logs': route({ caller: 'user', params: byNamespace, query: logQuery, events: logEvent }),
} as const
