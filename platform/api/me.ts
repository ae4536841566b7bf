import Type, { type Static } from 'typebox'
import { closed, granted, person, platformRole, shown, time } from './common.ts'
import { listOf, route } from './route.ts'

export const me = Type.Object({
  ...person.properties,
  email: Type.Optional(Type.String()),
  role: platformRole,
  home: Type.Optional(Type.String({ description: 'their personal namespace' })),
})
export type Me = Static<typeof me>

const tokenInfo = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  label: Type.String(),
  created: time,
  expires: time,
  lastUse: Type.Optional(time),
  isThis: Type.Optional(Type.Boolean({ description: 'the token of this request' })),
})
export type TokenInfo = Static<typeof tokenInfo>

const newToken = closed({ label: shown(60), days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })) })
const kubeToken = Type.Object({ token: Type.String(), expires: time })
const byToken = Type.Object({ id: Type.String({ pattern: '^[a-z2-7]{16}$' }) })

/** Routes for the user of a token: their profile, their tokens, and their access to the cluster. */
export const meRoutes = {
  'GET /me': route({ caller: 'user', isForCi: true, reply: me }),
  'GET /me/tokens': route({ caller: 'user', reply: listOf(tokenInfo) }),
  'POST /me/tokens': route({ caller: 'person', body: newToken, reply: granted, audit: 'create token', isSecret: true }),
  'DELETE /me/tokens/:id': route({ caller: 'person', params: byToken, audit: 'delete token' }),
  'POST /kube-token': route({ caller: 'user', reply: kubeToken, isSecret: true, isForRuns: true }),
} as const
