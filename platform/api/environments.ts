import Type, { type Static } from 'typebox'
import { ASKED_TOGETHER } from '../rules/asked-together.ts'
import { closed, namespaceName, time } from './common.ts'
import { byNamespace } from './namespaces.ts'
import { listOf, route } from './route.ts'

/** A position in the deployed files; the path is relative to the root of the repository. */
const place = Type.Object({ file: Type.String(), line: Type.Integer() })
export type ShownPlace = Static<typeof place>

const deployment = Type.Object({
  by: Type.String({ description: 'who deployed: `ann`, or without the platform `ann@laptop`; not verified' }),
  at: time,
  number: Type.Optional(Type.Integer({ description: 'number in the history' })),
  repository: Type.Optional(Type.String({ description: '`git.example.com/team/shop`' })),
  branch: Type.Optional(Type.String()),
  commit: Type.Optional(Type.String()),
  subject: Type.Optional(Type.String({ description: 'first line of the commit message' })),
  isDirty: Type.Optional(Type.Boolean({ description: 'with uncommitted changes' })),
  isUnchecked: Type.Optional(Type.Boolean({ description: 'it is not known whether there were uncommitted changes' })),
  end: Type.Optional(
    Type.String({
      description:
        '`failed`, `interrupted`, or `unknown` (it is still running, or was killed); absent: everything was applied',
    }),
  ),
})
export type ShownDeploy = Static<typeof deployment>

/** A diagnostic, as `deploy` would print it. */
const problem = Type.Object({
  code: Type.String({ description: 'a code for `devctl explain`: `deploy/crash-loop`' }),
  message: Type.String({ description: 'with names in backticks' }),
  hint: Type.Optional(Type.String()),
  notes: Type.Array(Type.String(), {
    description: 'facts, such as messages of the cluster; log lines begin with `| `',
  }),
  place: Type.Optional(place),
})
export type ServiceProblem = Static<typeof problem>

const service = Type.Object({
  name: Type.String(),
  state: Type.String({
    description:
      '`ready`, `complete` (a Job that succeeded), `waiting`, `failed`, `stopped` (without replicas), `asleep` (so because its namespace sleeps), or `missing` (in the files, but not in the cluster)',
  }),
  reason: Type.Optional(Type.String({ description: 'why it is not ready, in one line' })),
  kind: Type.Optional(Type.String({ description: '`Deployment`, `StatefulSet`, `DaemonSet`, `Job`' })),
  workload: Type.Optional(Type.String({ description: '`deployment/web`; several services may share one' })),
  ready: Type.Integer(),
  wanted: Type.Integer(),
  restarts: Type.Integer(),
  since: Type.Optional(time),
  image: Type.Optional(Type.String()),
  endpoints: Type.Array(Type.String(), { description: 'public URLs, the shorter ones first' }),
  exposed: Type.Array(Type.String(), { description: 'external TCP or UDP addresses' }),
  internal: Type.Array(Type.String(), { description: 'addresses in the cluster: `web:80`' }),
  development: Type.Optional(Type.String({ description: 'the user whose development container replaces it' })),
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

const jobRun = Type.Object({
  state: Type.Optional(
    Type.String({
      description: '`waiting`, `running`, `succeeded` or `failed`; absent if the run is no longer in the cluster',
    }),
  ),
  started: Type.Optional({ ...time, description: 'absent if it waits' }),
  ended: Type.Optional(time),
  exitStatus: Type.Optional(Type.Integer()),
})
export type ShownJobRun = Static<typeof jobRun>

const job = Type.Object({
  name: Type.String(),
  schedules: Type.Array(
    Type.Object({
      cron: Type.String({ description: '`30 3 * * *`' }),
      timeZone: Type.Optional(Type.String({ description: 'absent: that of the cluster, usually UTC' })),
    }),
    { description: 'empty for a job that only users start' },
  ),
  isSuspended: Type.Optional(Type.Boolean({ description: 'its schedules start no runs now' })),
  nextRun: Type.Optional({ ...time, description: 'absent if there is none, or if the cluster decides' }),
  lastRun: Type.Optional(jobRun),
})
export type ShownJob = Static<typeof job>

const summary = {
  name: Type.String(),
  state: Type.String({
    description:
      'of its services: `ready`, `waiting`, `failed`, `stopped`, `asleep`, or `empty` if there are none in the cluster',
  }),
  deployed: Type.Optional(deployment),
  source: Type.Optional(
    Type.Object({
      repository: Type.String({
        description: 'address without credentials; outside a repository, the name of a folder',
      }),
      file: Type.String({ description: 'the Compose file, relative to the repository' }),
    }),
  ),
}
const environment = Type.Object({
  ...summary,
  services: Type.Integer(),
  ready: Type.Integer({ description: 'number of services that are ready or complete' }),
  endpoints: Type.Array(Type.String()),
  problem: Type.Optional(Type.Object({ service: Type.String(), reason: Type.String() })),
  waits: Type.Optional(
    Type.Object(
      { service: Type.String(), reason: Type.String() },
      { description: 'the first service that is not ready yet, and what it waits for; absent if a service has failed' },
    ),
  ),
})
/** An environment in a list. */
export type ShownEnvironment = Static<typeof environment>

const failed = Type.Object({
  run: Type.String({ description: 'id of the run' }),
  environment: Type.String(),
  at: time,
  reason: Type.Optional(Type.String()),
})
/** A failed deploy that no later deploy has superseded. */
export type FailedDeploy = Static<typeof failed>

const atWork = Type.Object({ run: Type.String({ description: 'id of the run' }), environment: Type.String() })

const ofNamespace = Type.Object({
  namespace: Type.String(),
  environments: Type.Array(environment),
  failedDeploys: Type.Array(failed, {
    description: 'deploys that failed, and that nothing has followed: at most one of each environment, newest first',
  }),
  deploys: Type.Array(atWork, { description: 'deploys that are queued or at work, newest first' }),
})
/**
 * Environments of one namespace, as an item of a list of namespaces. Includes the deploys that explain the state of the
 * environments.
 */
export type RunningNamespace = Static<typeof ofNamespace>

const valueChange = Type.Object({
  path: Type.String({ description: 'path of a field: `spec.template.spec.containers[api].image`' }),
  before: Type.Optional(Type.String()),
  after: Type.Optional(Type.String()),
  masked: Type.Optional(Type.String({ description: 'text to show instead of both values' })),
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
  unapplied: Type.Optional(
    Type.Array(Type.Object({ action: Type.String(), object: Type.String(), service: Type.Optional(Type.String()) }), {
      description: 'changes that were planned, and that a deploy that failed did not make',
    }),
  ),
  left: Type.Optional(Type.Integer({ description: 'number of further changes that are not kept' })),
})
/** The changes that one deploy made, without secret values. */
export type ShownChanges = Static<typeof changeList>

const environmentDetails = Type.Object({
  ...summary,
  namespace: Type.String(),
  services: Type.Array(service, { description: 'in the order in which they start' }),
  jobs: Type.Optional(Type.Array(job, { description: 'by name; a failed run does not change the state' })),
  isCut: Type.Optional(Type.Boolean({ description: 'there is more than is read' })),
})
export type EnvironmentDetails = Static<typeof environmentDetails>

const liveEvent = Type.Union([
  Type.Object({ type: Type.Literal('snapshot'), environments: Type.Array(environmentDetails) }),
  Type.Object({ type: Type.Literal('environment'), environment: environmentDetails }),
  Type.Object({
    type: Type.Literal('services'),
    environment: Type.String(),
    state: Type.String({ description: 'state of the environment' }),
    services: Type.Array(service, { description: 'services that have changed, completely' }),
  }),
  Type.Object({ type: Type.Literal('removed'), environment: Type.String() }),
])
/**
 * Event of the live stream. The first event contains the complete state; if a client is too slow, the complete state is
 * sent again. If the state is large, its event omits some environments, which follow in separate events right after it.
 * Each later event contains an environment that is new or was deployed, services that have changed, or an environment
 * that was deleted.
 */
export type LiveEvent = Static<typeof liveEvent>

const logEvent = Type.Union([
  Type.Object({
    type: Type.Literal('line'),
    service: Type.String(),
    source: Type.String({ description: 'short name of the container: `web-j2fnt`' }),
    time,
    text: Type.String({ description: 'as the program wrote it, possibly with ANSI escapes' }),
  }),
  Type.Object({
    type: Type.Literal('note'),
    service: Type.Optional(Type.String()),
    source: Type.Optional(Type.String()),
    text: Type.String({ description: 'a note of the platform, not of the program' }),
  }),
])
/** A line of a log, or a note about the log. */
export type LogLineEvent = Static<typeof logEvent>

const seenEvents = Type.Object({
  items: Type.Array(
    Type.Object({
      isWarning: Type.Optional(Type.Boolean()),
      about: Type.String({ description: '`pod/web-6bbc7c877f-l5m5d`' }),
      time: { ...time, description: 'time of the last occurrence' },
      reason: Type.String(),
      message: Type.String(),
      count: Type.Integer({ description: 'number of occurrences' }),
    }),
    { description: 'the newest first' },
  ),
  isCut: Type.Optional(Type.Boolean({ description: 'the namespace has more events than are read' })),
})
/** Kubernetes events about a service. */
export type SeenEvents = Static<typeof seenEvents>

const serviceSettings = Type.Object({
  image: Type.Optional(Type.String()),
  entrypoint: Type.Optional(Type.Array(Type.String(), { description: 'absent: that of the image' })),
  command: Type.Optional(Type.Array(Type.String(), { description: 'absent: that of the image' })),
  directory: Type.Optional(Type.String({ description: 'working directory; absent: that of the image' })),
  replicas: Type.Optional(Type.Integer()),
  ports: Type.Array(Type.String(), { description: 'ports that it listens on: `80`, `53/udp`' }),
  variables: Type.Array(
    Type.Object({
      name: Type.String({ description: 'name; with `*` at the end: all keys of an object' }),
      from: Type.Optional(Type.String({ description: 'the object that holds the value: `secret/db-password`' })),
    }),
    { description: 'names without values' },
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
      failures: Type.Integer({ description: 'failures in a row until the check has failed' }),
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

const logQuery = closed({
  service: Type.Optional(namespaceName),
  environment: Type.Optional(namespaceName),
  tail: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,4}$', description: 'number of lines of each container; default: 100' }),
  ),
})

const NAME = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const manyNamespaces = closed({
  namespaces: Type.String({
    pattern: `^${NAME}(,${NAME}){0,${ASKED_TOGETHER - 1}}$`,
    description: `names, separated by commas; at most ${ASKED_TOGETHER}`,
  }),
})

const byEnvironment = Type.Object({ ns: namespaceName, env: namespaceName })
const byService = Type.Object({ ns: namespaceName, env: namespaceName, service: namespaceName })

/**
 * Routes that return the contents of namespaces, read with the permissions of the caller (design, sections 10 and 11).
 */
export const environmentRoutes = {
  'GET /environments': route({
    caller: 'user',
    query: manyNamespaces,
    reply: Type.Object({
      items: Type.Array(ofNamespace, { description: 'without namespaces that do not exist, or cannot be read' }),
    }),
  }),
  'GET /namespaces/:ns/environments': route({ caller: 'user', params: byNamespace, reply: listOf(environment) }),
  'GET /namespaces/:ns/environments/:env': route({ caller: 'user', params: byEnvironment, reply: environmentDetails }),
  'GET /namespaces/:ns/environments/:env/history': route({
    caller: 'user',
    params: byEnvironment,
    reply: Type.Object({
      items: Type.Array(changeList, { description: 'the last deploys that changed something, the newest first' }),
    }),
  }),
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
