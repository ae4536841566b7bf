import Type, { type Static } from 'typebox'
import { closed, person, platformRole, time, userId } from './common.ts'
import { me } from './me.ts'
import { listOf, route } from './route.ts'

const user = Type.Object({ ...me.properties, lastLogin: time, isSuspended: Type.Optional(Type.Boolean()) })
/** A user, as administrators see them. */
export type ShownUser = Static<typeof user>

/** A user in search results, with the provider, because users of two providers can have the same name. */
const someone = Type.Object({
  ...person.properties,
  provider: Type.Optional(Type.String({ description: 'host of their login provider' })),
})

const userChange = closed({ role: Type.Optional(platformRole), isSuspended: Type.Optional(Type.Boolean()) })
export type UserChange = Static<typeof userChange>

/** Routes for the users of a platform. */
export const userRoutes = {
  'GET /users': route({ caller: 'user', reply: listOf(someone) }),
  'GET /admin/users': route({ caller: 'admin', reply: listOf(user) }),
  'PATCH /admin/users/:user': route({
    caller: 'admin',
    params: Type.Object({ user: userId }),
    body: userChange,
    reply: user,
    audit: 'change user',
  }),
} as const
