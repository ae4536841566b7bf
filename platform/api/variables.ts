import Type, { type Static } from 'typebox'
import { closed, person, time } from './common.ts'
import { byNamespace } from './namespaces.ts'
import { listOf, route } from './route.ts'

/** Maximum length of a value, in bytes. */
export const LONGEST_VALUE = 16 * 1024

const value = Type.String({ maxLength: LONGEST_VALUE })
/** Pattern of the names that can be stored, because they are keys of a Secret. */
export const VARIABLE_NAME = '^[-._A-Za-z0-9]{1,100}$'
const name = Type.String({ pattern: VARIABLE_NAME })
export const scope = Type.String({
  pattern: '^(admin|user|namespace:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$',
  description: '`admin` (everyone), `user` (the caller) or `namespace:NAME`',
})

const variable = Type.Object({ name: Type.String(), set: time, by: person })
/** A variable without its value, for display. */
export type ShownVariable = Static<typeof variable>

const effective = Type.Object({
  variables: Type.Array(Type.Object({ name: Type.String(), value: Type.String(), scope: Type.String() })),
  unreadable: Type.Array(Type.Object({ name: Type.String(), scope: Type.String() }), {
    description: 'names of variables that no key of the platform can open',
  }),
  images: Type.Optional(
    Type.Object({
      name: Type.String({
        description: 'prefix of the names of images of the namespace; absent: there is no registry',
      }),
      hasLogin: Type.Boolean({ description: '`registry-login` returns a login for them' }),
    }),
  ),
})
/** The variables that a deploy would use. */
export type EffectiveVariables = Omit<Static<typeof effective>, 'images'>

const byScope = Type.Object({ scope })
const byName = Type.Object({ scope, name })

/** Routes for variables: of the platform, of a person, or of a namespace (design, section 8). */
export const variableRoutes = {
  'GET /variables/:scope': route({ caller: 'user', params: byScope, reply: listOf(variable) }),
  'PATCH /variables/:scope': route({
    caller: 'user',
    params: byScope,
    body: closed({
      variables: Type.Record(Type.String(), Type.Union([value, Type.Null()]), {
        maxProperties: 100,
        description: 'sets all variables or none; null removes one',
      }),
    }),
    audit: 'change variables',
  }),
  'PUT /variables/:scope/:name': route({
    caller: 'user',
    params: byName,
    body: closed({ value }),
    audit: 'set variable',
  }),
  'DELETE /variables/:scope/:name': route({ caller: 'user', params: byName, audit: 'unset variable' }),
  'GET /namespaces/:ns/variables/effective': route({
    caller: 'user',
    params: byNamespace,
    reply: effective,
    isForRuns: true,
    isSecret: true,
  }),
} as const
