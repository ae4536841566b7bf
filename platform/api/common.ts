import Type, { type Static, type TSchema } from 'typebox'

/** Returns a schema for an object that allows no additional properties: an unknown key is a mistake of the client. */
export const closed = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })

export const text = (maxLength = 200) => Type.String({ maxLength })
/**
 * Returns a schema for text that is shown to people: it contains no control characters that a terminal would interpret
 * or that change how the surrounding text is displayed.
 */
export const shown = (maxLength: number, options: { readonly description?: string } = {}) =>
  Type.String({ maxLength, pattern: '^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]*$', ...options })
export const time = Type.String({ description: 'RFC 3339' })
export const namespaceName = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 })
export const userId = Type.String({ pattern: '^[a-z2-7]{16}$' })

/** Returns a schema for a string that is one of a list. */
export const oneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...words] }))

/** Query parameters of a forced deletion, which skips the commands of deployed manifests. */
export const forced = closed({ force: Type.Optional(Type.Literal('true')) })

export const errorBody = Type.Object({
  code: Type.String({ description: 'a code for `devctl explain`: `platform/quota`' }),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  notes: Type.Optional(Type.Array(Type.String())),
})
export type ErrorBody = Static<typeof errorBody>

export const platformRole = Type.Union([Type.Literal('admin'), Type.Literal('developer')])
export const namespaceRole = Type.Union([Type.Literal('owner'), Type.Literal('developer'), Type.Literal('viewer')])

/** A user, as other users see them. */
export const person = Type.Object({
  id: Type.String(),
  login: Type.String(),
  name: Type.Optional(Type.String()),
})
export type Person = Static<typeof person>

/** The result of a login: a token whose secret is shown only in this response. */
export const granted = Type.Object({ token: Type.String(), expires: time, login: Type.String() })
export type Granted = Static<typeof granted>

/** The result of a login in a browser: the token is in a cookie that scripts cannot read. */
export const entered = Type.Object({ login: Type.String(), expires: time })
export type Entered = Static<typeof entered>
