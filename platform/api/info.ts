import Type, { type Static } from 'typebox'
import { route } from './route.ts'

const info = Type.Object({
  version: Type.String(),
  minCli: Type.String({ description: 'the oldest devctl that works with this platform' }),
  domain: Type.String({ description: 'the domain of the hosts of environments' }),
  login: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  kubernetes: Type.Object({
    server: Type.String({ description: 'the address of the API server for users' }),
    ca: Type.Optional(Type.String({ description: 'certificates as PEM; absent: those that the system trusts' })),
  }),
  authorities: Type.Optional(
    Type.String({ description: 'private certificate authorities of the network of the platform, as PEM' }),
  ),
  registry: Type.Optional(
    Type.String({
      description: 'registry and path of the images that people build, below which each namespace has its own path',
    }),
  ),
})
export type Info = Static<typeof info>

/** Routes that return the information that a client needs before it logs in. */
export const infoRoutes = {
  'GET /info': route({ caller: 'nobody', reply: info }),
} as const
