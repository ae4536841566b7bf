import Type, { type Static } from 'typebox'
import { closed, forced, namespaceName, namespaceRole, oneOf, person, time, userId } from './common.ts'
import { listOf, route } from './route.ts'

const namespace = Type.Object({
  name: Type.String(),
  kind: Type.String({ description: '`namespace`, `personal` or `preview`' }),
  status: Type.String({ description: '`Active`, `Sleeping`, `Waking`, `Deleting` or `DeleteFailed`' }),
  owner: person,
  role: Type.Optional(namespaceRole),
  created: time,
  lastActive: time,
  isPersistent: Type.Optional(Type.Boolean()),
  deleteProblem: Type.Optional(Type.String({ description: 'why it could not be deleted' })),
  deleteWaits: Type.Optional(Type.String({ description: 'what its deletion waits for' })),
})
export type Namespace = Static<typeof namespace>

const namespaceDetails = Type.Object({
  ...namespace.properties,
  members: Type.Array(Type.Object({ user: person, role: namespaceRole })),
})
export type NamespaceDetails = Static<typeof namespaceDetails>

const limit = Type.Object({
  resource: Type.String({ description: 'as in a ResourceQuota: `requests.cpu`, `pods`, `count/secrets`' }),
  unit: oneOf(['cores', 'bytes', 'objects']),
  used: Type.Number(),
  most: Type.Number(),
})
export type NamespaceLimit = Static<typeof limit>

const namespaceChange = closed({ isPersistent: Type.Optional(Type.Boolean()), owner: Type.Optional(userId) })

export const byNamespace = Type.Object({ ns: namespaceName })
const byMember = Type.Object({ ns: namespaceName, user: userId })

/** Routes for namespaces and their members (design, section 5). */
export const namespaceRoutes = {
  'GET /namespaces': route({ caller: 'user', reply: listOf(namespace) }),
  'POST /namespaces': route({
    caller: 'user',
    body: closed({ name: namespaceName }),
    reply: namespace,
    audit: 'create namespace',
  }),
  'GET /namespaces/:ns': route({ caller: 'user', params: byNamespace, reply: namespaceDetails }),
  'GET /namespaces/:ns/limits': route({ caller: 'user', params: byNamespace, reply: listOf(limit) }),
  'PATCH /namespaces/:ns': route({
    caller: 'user',
    params: byNamespace,
    body: namespaceChange,
    reply: namespaceDetails,
    audit: 'change namespace',
  }),
  'DELETE /namespaces/:ns': route({
    caller: 'user',
    params: byNamespace,
    query: forced,
    audit: 'delete namespace',
  }),
  'PUT /namespaces/:ns/members/:user': route({
    caller: 'user',
    params: byMember,
    body: closed({ role: namespaceRole }),
    reply: namespaceDetails,
    audit: 'share namespace',
  }),
  'DELETE /namespaces/:ns/members/:user': route({
    caller: 'user',
    params: byMember,
    audit: 'unshare namespace',
  }),
} as const
