import Type, { type Static } from 'typebox'
import { DELIVERY_RESULTS } from '../rules/previews/deliveries.ts'
import { PREVIEW_SCOPES } from '../rules/previews/previews.ts'
import { CODE_TRUSTS, FORK_POLICIES } from '../rules/previews/pull-trust.ts'
import { HOOK_FORGES } from '../rules/previews/webhook-signature.ts'
import { closed, namespaceName, oneOf, person, text, time } from './common.ts'
import { listOf, route } from './route.ts'
import { filePath } from './runs.ts'

const hookId = Type.String({ pattern: '^[a-z2-7]{16}$' })
const commit = Type.String({ pattern: '^[0-9a-f]{1,64}$' })

const pull = Type.Object({
  number: Type.Integer(),
  preview: Type.String({ description: 'name of the preview' }),
  page: Type.String(),
  title: Type.Optional(Type.String()),
  author: Type.String({ description: 'name at the forge' }),
  branch: Type.Optional(Type.String()),
  from: Type.Optional(Type.String({ description: 'the repository that the branch is in' })),
  commit: Type.String({ description: 'the last commit' }),
  trust: Type.Optional({ ...oneOf(CODE_TRUSTS), description: 'whose code it is' }),
  isWaiting: Type.Optional(Type.Boolean({ description: 'the commit waits for approval by someone with write access' })),
  deployed: Type.Optional(Type.String({ description: 'the last deployed commit' })),
  problem: Type.Optional(Type.String({ description: 'why there is no preview of the commit' })),
})

const delivery = Type.Object({
  time,
  event: Type.Optional(Type.String({ description: 'name of the event at the forge: `pull_request`' })),
  result: oneOf(DELIVERY_RESULTS),
  number: Type.Optional(Type.Integer({ description: 'number of the pull request' })),
  reason: Type.Optional(Type.String({ description: 'why it was ignored or refused' })),
})

const hook = Type.Object({
  id: Type.String(),
  forge: oneOf(HOOK_FORGES),
  repository: Type.String(),
  owner: person,
  scope: oneOf(PREVIEW_SCOPES),
  forks: oneOf(FORK_POLICIES),
  prefix: Type.String({ description: 'prefix of the names of its previews' }),
  file: Type.Optional(Type.String()),
  address: Type.String({ description: 'the URL for the forge' }),
  events: Type.String({ description: 'the events to choose, in the words of the forge' }),
  created: time,
  isCreated: Type.Optional(
    Type.Boolean({ description: 'the platform has created it in the settings of the repository' }),
  ),
  pulls: Type.Array(pull),
  lastDelivery: Type.Optional({ ...delivery, description: 'the last delivery that was signed with its secret' }),
  lastUnsigned: Type.Optional({
    ...time,
    description: 'when a delivery without a valid signature was last refused, to the minute',
  }),
})
export type Webhook = Static<typeof hook>

const newHook = closed({
  repository: text(1000),
  forge: Type.Optional(oneOf(HOOK_FORGES)),
  token: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'token of the forge, of someone with write access',
  }),
  scope: Type.Optional(oneOf(PREVIEW_SCOPES)),
  forks: Type.Optional(oneOf(FORK_POLICIES)),
  prefix: Type.Optional(text(31)),
  file: Type.Optional(filePath),
  create: Type.Optional(Type.Boolean({ description: 'create it in the settings of the repository, too' })),
})
export type NewHook = Static<typeof newHook>

const byHook = Type.Object({ id: hookId })

/** Routes for the webhooks of repositories, whose pull requests get previews (design, section 7). */
export const hookRoutes = {
  'GET /hooks': route({ caller: 'user', reply: listOf(hook) }),
  'POST /hooks': route({
    caller: 'person',
    body: newHook,
    reply: Type.Object({
      hook,
      secret: Type.Optional(
        Type.String({ description: 'the secret for the forge, unless it was created there; not shown again' }),
      ),
    }),
    audit: 'add webhook',
    isSecret: true,
  }),
  'DELETE /hooks/:id': route({
    caller: 'person',
    params: byHook,
    reply: Type.Object({
      left: Type.Optional(Type.String({ description: 'why it is still in the settings of the repository' })),
    }),
    audit: 'remove webhook',
  }),
  'POST /hooks/:forge/:id': route({
    caller: 'nobody',
    params: Type.Object({ forge: oneOf(HOOK_FORGES), id: hookId }),
    isRaw: true,
    audit: 'webhook',
  }),
  'POST /previews/:name/approve': route({
    caller: 'person',
    params: Type.Object({ name: namespaceName }),
    body: closed({ commit }),
    reply: pull,
    audit: 'approve preview',
  }),
} as const
