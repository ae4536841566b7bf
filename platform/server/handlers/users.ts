import type { userRoutes } from '../../api/users.ts'
import type { PlatformUser } from '../../records/user.ts'
import { toPerson, toShownUser } from '../answers.ts'
import type { PlatformParts } from '../make-parts.ts'
import { PlatformError } from '../platform-error.ts'
import { type HandlersOf, wordsOf } from './handler.ts'

export const userHandlers = ({ users, tokens }: PlatformParts): HandlersOf<typeof userRoutes> => ({
  'GET /users': async () => {
    const all = await users.all()
    return { items: all.map(one => ({ ...toPerson(one), ...providerOf(one) })) }
  },
  'GET /admin/users': async () => ({ items: (await users.all()).map(toShownUser) }),
  'PATCH /admin/users/:user': async ({ params, body, by, note }) => {
    note({ what: wordsOf(body) })
    const user = await users.known(params.user)
    if (user.id === by.user.id) throw new PlatformError(409, 'self', 'you cannot change your own role')
    const saved = await users.change(user.id, body)
    if (saved.isSuspended) await tokens.revokeAll(user.id)
    return toShownUser(saved)
  },
})

/** The host of the provider. Users who were invited have none. */
const providerOf = ({ issuer }: PlatformUser) =>
  /^https?:\/\//.test(issuer) && URL.canParse(issuer) ? { provider: new URL(issuer).host } : {}
