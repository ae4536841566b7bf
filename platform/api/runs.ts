import Type, { type Static } from 'typebox'
import { CODE_TRUSTS } from '../rules/previews/pull-trust.ts'
import { RUN_ACTIONS, RUN_STATES } from '../rules/runs/run-states.ts'
import { closed, namespaceName, oneOf, person, text, time } from './common.ts'
import { listOf, route } from './route.ts'

export const run = Type.Object({
  id: Type.String(),
  namespace: Type.String(),
  environment: Type.String(),
  action: oneOf(RUN_ACTIONS),
  state: oneOf(RUN_STATES),
  user: person,
  repository: Type.Optional(Type.String()),
  branch: Type.Optional(Type.String({ description: 'absent: the default branch' })),
  commit: Type.Optional(Type.String({ description: 'known once it is cloned' })),
  file: Type.Optional(Type.String()),
  volumes: Type.Optional(Type.Boolean()),
  isDeletion: Type.Optional(Type.Boolean({ description: 'it is part of the deletion of its namespace' })),
  trust: Type.Optional({
    ...oneOf(CODE_TRUSTS),
    description: 'if a webhook has started it: whether the code is of the repository or of a fork',
  }),
  variables: Type.Optional(Type.Array(Type.String(), { description: 'names of the variables that were passed' })),
  moreVariables: Type.Optional(Type.Integer({ description: 'how many more there are, if only the first are named' })),
  created: time,
  started: Type.Optional(time),
  ended: Type.Optional(time),
  reason: Type.Optional(Type.String({ description: 'why it did not succeed' })),
})
export type Run = Static<typeof run>

const environmentName = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 })

export const branchName = Type.String({ minLength: 1, maxLength: 250 })
export const filePath = Type.String({ minLength: 1, maxLength: 500 })
export const givenVariables = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }),
  Type.String({ maxLength: 32_768 }),
  { maxProperties: 200 },
)

/** Login to a forge for the clone of one run. */
export const cloneLogin = closed({ user: text(100), password: Type.String({ minLength: 1, maxLength: 4096 }) })

const newRun = closed({
  namespace: namespaceName,
  environment: environmentName,
  action: oneOf(RUN_ACTIONS),
  repository: Type.Optional(
    Type.String({ maxLength: 1000, description: 'for a destroy: the repository that was deployed' }),
  ),
  branch: Type.Optional(branchName),
  file: Type.Optional(filePath),
  volumes: Type.Optional(Type.Boolean({ description: 'for a destroy: whether to delete volumes, too' })),
  variables: Type.Optional(givenVariables),
  cloneLogin: Type.Optional({ ...cloneLogin, description: 'kept until the repository is cloned' }),
})
export type NewRun = Static<typeof newRun>

const runsOf = closed({
  namespace: Type.Optional(namespaceName),
  environment: Type.Optional(environmentName),
  last: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,2}$', description: 'only so many, the newest ones' })),
})

export const runEvent = Type.Union([
  Type.Object({ type: Type.Literal('state'), run }),
  Type.Object({
    type: Type.Literal('line'),
    number: Type.Integer({ description: 'the id of the event; the first line is 1' }),
    step: Type.Union([Type.Literal('clone'), Type.Literal('run')]),
    time,
    text: Type.String({ description: 'for `run`: a JSON object as `--output json` prints it, or any text' }),
  }),
])
export type RunEvent = Static<typeof runEvent>

export const runId = Type.String({ pattern: '^[0-7][0-9a-hjkmnp-tv-z]{25}$' })
const byRun = Type.Object({ id: runId })

/** Routes for deploys and destroys that run in the cluster (design, section 6). */
export const runRoutes = {
  'GET /runs': route({ caller: 'user', query: runsOf, reply: listOf(run) }),
  'POST /runs': route({ caller: 'user', body: newRun, reply: run, audit: 'start run' }),
  'GET /runs/:id': route({ caller: 'user', params: byRun, reply: run }),
  'POST /runs/:id/cancel': route({ caller: 'user', params: byRun, reply: run, audit: 'cancel run' }),
  'GET /runs/:id/log': route({ caller: 'user', params: byRun, events: runEvent }),
} as const
