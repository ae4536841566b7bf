import Type, { type Static, type TSchema } from 'typebox'

/** A shape with no other keys: what a client sends beside them is a mistake of its own. */
export const closed = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })

export const text = (maxLength = 200) => Type.String({ maxLength })
export const time = Type.String({ description: 'RFC 3339' })
export const namespaceName = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 })
export const userId = Type.String({ pattern: '^[a-z2-7]{16}$' })

/** A text that is one of a list. */
export const oneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...words] }))

/** Of a deletion: without the commands of what is deployed. */
export const forced = closed({ force: Type.Optional(Type.Literal('true')) })

export const errorBody = Type.Object({
  code: Type.String({ description: 'what `devctl explain` explains: `platform/quota`' }),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  notes: Type.Optional(Type.Array(Type.String())),
})
export type ErrorBody = Static<typeof errorBody>

export const platformRole = Type.Union([Type.Literal('admin'), Type.Literal('developer')])
export const namespaceRole = Type.Union([Type.Literal('owner'), Type.Literal('developer'), Type.Literal('viewer')])

/** Somebody, as others see them. */
export const person = Type.Object({
  id: Type.String(),
  login: Type.String(),
  name: Type.Optional(Type.String()),
})
export type Person = Static<typeof person>

/** What a login gives: a token whose secret is shown this once. */
export const granted = Type.Object({ token: Type.String(), expires: time, login: Type.String() })
export type Granted = Static<typeof granted>

/** What a login in a browser gives: the token is in a cookie that no script reads. */
export const entered = Type.Object({ login: Type.String(), expires: time })
export type Entered = Static<typeof entered>
