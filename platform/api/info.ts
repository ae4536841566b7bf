import Type, { type Static } from 'typebox'
import { route } from './route.ts'

const info = Type.Object({
  version: Type.String(),
  minCli: Type.String({ description: 'the oldest devctl that works with this platform' }),
  domain: Type.String({ description: 'environments get their hosts under it' }),
  login: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  kubernetes: Type.Object({
    server: Type.String({ description: 'the API server, for programs of users' }),
    ca: Type.Optional(Type.String({ description: 'PEM; absent: one that the system trusts' })),
  }),
  registry: Type.Optional(
    Type.String({ description: 'of the images of people; their names go on with that of a namespace' }),
  ),
})
export type Info = Static<typeof info>

/** What a program needs to know before a login. */
export const infoRoutes = {
  'GET /info': route({ caller: 'nobody', reply: info }),
} as const
