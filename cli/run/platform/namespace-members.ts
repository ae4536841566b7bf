import { didYouMean } from '../../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { NamespaceDetails } from '../../../platform/api/namespaces.ts'
import type { Platform } from '../../../platform/session/connect-platform.ts'
import type { Context } from '../../command.ts'
import { withPlatform } from './namespace.ts'

type ShareRole = NamespaceDetails['members'][number]['role']

/** Makes a user a member or an owner of a namespace. */
export function shareNamespace(context: Context, ns: string, login: string, role: ShareRole): Promise<number> {
  return withPlatform(context, 'share', ns, async ({ platform, signal }) => {
    const user = await userCalled(platform, login, signal)
    if (role === 'owner') {
      await platform.call('PATCH /namespaces/:ns', { params: { ns }, body: { owner: user } }, signal)
      context.io.stdout.write(`${login} is now the owner of namespace ${ns}\n`)
      return 0
    }
    await platform.call('PUT /namespaces/:ns/members/:user', { params: { ns, user }, body: { role } }, signal)
    context.io.stdout.write(`Shared namespace ${ns} with ${login} (${role})\n`)
    return 0
  })
}

/** Removes a user from a namespace. */
export function unshareNamespace(context: Context, ns: string, login: string): Promise<number> {
  return withPlatform(context, 'unshare', ns, async ({ platform, signal }) => {
    const user = await userCalled(platform, login, signal)
    await platform.call('DELETE /namespaces/:ns/members/:user', { params: { ns, user } }, signal)
    context.io.stdout.write(`Namespace ${ns} is no longer shared with ${login}\n`)
    return 0
  })
}

/**
 * Returns the id of the user with this login or id. Throws a UserError that asks for the id if several users have the
 * same login.
 */
async function userCalled(platform: Platform, login: string, signal: AbortSignal): Promise<string> {
  const { items } = await platform.call('GET /users', {}, signal)
  const found = items.filter(one => one.login === login || one.id === login)
  if (found.length === 1) return found[0]!.id
  if (found.length > 1)
    throw new UserError(`\`${login}\` is the name of ${found.length} people`, {
      notes: found.map(
        ({ id, name = login, provider }) => `\`${id}\`: ${name}${provider ? `, of ${provider}` : ', by invitation'}`,
      ),
      hint: `use the id instead of the name: \`devctl namespace share NAME ${found[0]!.id}\``,
    })
  const near = didYouMean(
    login,
    items.map(one => one.login),
  )
  throw new UserError(`nobody called \`${login}\` has logged in to ${new URL(platform.url).host}`, {
    hint: near ?? 'people have to log in once before you can add them: `devctl context use URL`',
  })
}
