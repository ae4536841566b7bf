import Type, { type Static } from 'typebox'
import { namespaceRole, person } from './common.ts'
import { route } from './route.ts'

const environment = Type.Object({
  name: Type.String(),
  services: Type.Array(Type.String(), { description: 'services of the last deploy, by the alphabet' }),
})

const inNamespace = Type.Object({
  namespace: Type.String(),
  environments: Type.Array(environment, { description: 'none if the caller may not see what runs in it' }),
  members: Type.Array(Type.Object({ user: person, role: namespaceRole })),
})

const names = Type.Object({
  items: Type.Array(inNamespace, { description: 'the namespaces that the caller may see, by the alphabet' }),
  unread: Type.Optional(Type.Integer({ description: 'number of namespaces whose environments were not read' })),
})
/** The names of environments, services and members, by namespace. */
export type SearchNames = Static<typeof names>

/**
 * Route that returns the names of everything the caller may see, for search, without any state (design, section 11).
 */
export const searchRoutes = {
  'GET /search': route({ caller: 'user', reply: names }),
} as const
