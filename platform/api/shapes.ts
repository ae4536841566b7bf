import Type, { type Static, type TSchema } from 'typebox'
import { LOGIN } from '../rules/names.ts'

/** A shape with no other keys: what a client sends beside them is a mistake of its own. */
const closed = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })

const text = (maxLength = 200) => Type.String({ maxLength })
const time = Type.String({ description: 'RFC 3339' })
export const namespaceName = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 })
const userId = Type.String({ pattern: '^[a-z2-7]{16}$' })

export const errorBody = Type.Object({
  code: Type.String({ description: 'what `devctl explain` explains: `platform/quota`' }),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  notes: Type.Optional(Type.Array(Type.String())),
})
export type ErrorBody = Static<typeof errorBody>

export const info = Type.Object({
  version: Type.String(),
  minCli: Type.String({ description: 'the oldest devctl that works with this platform' }),
  domain: Type.String({ description: 'environments get their hosts under it' }),
  login: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  kubernetes: Type.Object({
    server: Type.String({ description: 'the API server, for programs of users' }),
    ca: Type.Optional(Type.String({ description: 'PEM; absent: one that the system trusts' })),
  }),
  registry: Type.Optional(Type.String()),
})
export type Info = Static<typeof info>

const platformRole = Type.Union([Type.Literal('admin'), Type.Literal('developer')])
export const namespaceRole = Type.Union([Type.Literal('owner'), Type.Literal('developer'), Type.Literal('viewer')])

export const person = Type.Object({
  id: Type.String(),
  login: Type.String(),
  name: Type.Optional(Type.String()),
})
export type Person = Static<typeof person>

export const me = Type.Object({
  id: Type.String(),
  login: Type.String(),
  name: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  role: platformRole,
  home: Type.Optional(Type.String({ description: 'the namespace that is theirs' })),
})
export type Me = Static<typeof me>

export const tokenInfo = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  label: Type.String(),
  created: time,
  expires: time,
  lastUse: Type.Optional(time),
  isThis: Type.Optional(Type.Boolean({ description: 'the one that this request was made with' })),
})
export type TokenInfo = Static<typeof tokenInfo>

/** What a login gives: a token whose secret is shown this once. */
export const granted = Type.Object({ token: Type.String(), expires: time, login: Type.String() })
export type Granted = Static<typeof granted>

export const newToken = closed({ label: text(60), days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })) })

export const kubeToken = Type.Object({ token: Type.String(), expires: time })
export type KubeToken = Static<typeof kubeToken>

export const member = Type.Object({ user: person, role: namespaceRole })

export const namespace = Type.Object({
  name: Type.String(),
  kind: Type.String({ description: '`namespace`, `personal` or `preview`' }),
  status: Type.String({ description: '`Active`, `Sleeping`, `Deleting` or `DeleteFailed`' }),
  owner: person,
  role: Type.Optional(namespaceRole),
  created: time,
  lastActive: time,
  isPersistent: Type.Optional(Type.Boolean()),
})
export type Namespace = Static<typeof namespace>

export const namespaceDetails = Type.Object({ ...namespace.properties, members: Type.Array(member) })
export type NamespaceDetails = Static<typeof namespaceDetails>

export const newNamespace = closed({ name: namespaceName })
export const namespaceChange = closed({ isPersistent: Type.Optional(Type.Boolean()), owner: Type.Optional(userId) })
export const newMember = closed({ role: namespaceRole })

export const setup = closed({
  token: text(),
  label: Type.Optional(
    Type.String({ maxLength: 60, description: 'of a command line, whose token lives longer than that of a browser' }),
  ),
  login: Type.String({ pattern: LOGIN }),
})
export const codeExchange = closed({ code: text(), verifier: Type.String({ minLength: 43, maxLength: 128 }) })
export const deviceRequest = closed({ label: text(60) })
export const device = Type.Object({
  device: Type.String({ description: 'for the program that polls; secret' }),
  code: Type.String({ description: 'for the person to type' }),
  page: Type.String(),
  interval: Type.Integer({ description: 'seconds between two polls, at least' }),
  expires: time,
})
export type Device = Static<typeof device>
export const devicePoll = closed({ device: text() })

export const challenge = closed({ challenge: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }), label: text(60) })
export const code = Type.Object({ code: Type.String() })
export const typedCode = closed({ code: text(20) })
export const deviceLook = Type.Object({ label: Type.String(), created: time })
export const deviceAnswer = closed({ code: text(20), isAllowed: Type.Boolean() })

export const byNamespace = Type.Object({ ns: namespaceName })
export const byMember = Type.Object({ ns: namespaceName, user: userId })
export const byToken = Type.Object({ id: Type.String({ pattern: '^[a-z2-7]{16}$' }) })
export const byUser = Type.Object({ user: userId })
export const userChange = closed({ role: Type.Optional(platformRole), isSuspended: Type.Optional(Type.Boolean()) })
export const user = Type.Object({ ...me.properties, lastLogin: time, isSuspended: Type.Optional(Type.Boolean()) })
export type ShownUser = Static<typeof user>
