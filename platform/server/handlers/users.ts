import type { UserChange, userRoutes } from '../../api/users.ts'
import type { PlatformUser } from '../../records/user.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { toPerson, toShownUser } from '../http/answers.ts'
import { checkCaller, stillAllowed } from '../http/caller.ts'
import { PlatformError } from '../http/platform-error.ts'
import { type HandlersOf, wordsOf } from './handler.ts'

export const userHandlers = (
  { now }: Pick<ServerContext, 'now'>,
  { users, tokens }: Pick<Services, 'users' | 'tokens'>,
): HandlersOf<typeof userRoutes> => ({
  'GET /users': async () => {
    const all = await users.all()
    return { items: all.map(one => ({ ...toPerson(one), ...providerOf(one) })) }
  },
  'GET /admin/users': async () => ({ items: (await users.all()).map(toShownUser) }),
  'PATCH /admin/users/:user': async ({ params, body, by, note }) => {
    note({ what: wordsOf(body) })
    const user = await users.known(params.user)
    if (user.id === by.user.id) throw new PlatformError(409, 'self', 'you cannot change your own role')
    // Requests that began before the suspension may have issued tokens since then.
    if (user.isSuspended && body.isSuspended === false) await tokens.revokeAll(user.id)
    const saved = await users.change(user.id, body)
    // Checks the caller again, so that an administrator remains if two administrators demote or suspend each other at
    // the same time.
    await stillAllowed(by, { users, tokens }, now())
      .then(caller => checkCaller(caller, { caller: 'admin' }))
      .catch(async error => {
        await users.change(user.id, before(user, body))
        throw error
      })
    if (saved.isSuspended) await tokens.revokeAll(user.id)
    return toShownUser(saved)
  },
})

/** Returns the previous values of the fields that a change contains. */
const before = ({ role, isSuspended = false }: PlatformUser, change: UserChange): UserChange => ({
  ...(change.role !== undefined && { role }),
  ...(change.isSuspended !== undefined && { isSuspended }),
})

/**
 * Returns the host of the user's identity provider as the field `provider`; an empty object for users who were invited.
 */
const providerOf = ({ issuer }: PlatformUser) =>
  /^https?:\/\//.test(issuer) && URL.canParse(issuer) ? { provider: new URL(issuer).host } : {}
