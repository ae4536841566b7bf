import { UsageError, UserError } from '../../../compiler/diagnostics/user-error.ts'
import { agoText } from '../../../environment/ago.ts'
import { isForgeHost } from '../../../platform/rules/repository-url.ts'
import type { Context } from '../../command.ts'
import { INTERRUPTED } from '../../terminal/exit-status.ts'
import { listText } from '../../terminal/print-list.ts'
import { printSummary } from '../../terminal/report.ts'
import { toTable } from '../../terminal/table.ts'
import { givenToken, withoutLineBreak } from '../secret-input.ts'
import { onScope, type ScopeValues, whose } from './scope.ts'

/** User name that is stored with a token. Forges accept any name with a token. */
const ANYBODY = 'git'

/** Prints the hosts that have logins. Without a scope option, prints the hosts for the namespace and for the user. */
export function listCredentials(
  context: Context,
  values: ScopeValues & { readonly output: 'text' | 'json' | 'name' },
): Promise<number> {
  const { io, logLevel } = context
  return onScope(context, values, 'credentials', async ({ platform, scope, namespace, isChosen, signal }) => {
    const get = async (one: string) => {
      const { items } = await platform.call('GET /credentials/:scope', { params: { scope: one } }, signal)
      return items.map(item => ({ ...item, scope: one }))
    }
    const found = (await Promise.all((isChosen ? [scope] : [`namespace:${namespace}`, 'user']).map(get))).flat()
    const records = found.map(({ host, user, scope, set, by }) => ({ host, user, scope, set, by: by.login }))
    const rows = found.map(({ host, user, scope, set, by }) => {
      return [host, user, whose(scope), agoText(Date.now() - Date.parse(set)), by.login]
    })
    const text = () => toTable([['Host', 'Login', 'For', 'Set', 'By'], ...rows])
    if (values.output === 'json' || rows.length > 0)
      io.stdout.write(await listText(values.output, { records, names: [...new Set(found.map(one => one.host))], text }))
    else printSummary('there are no credentials; to set one, run `devctl credentials set HOST`', io, logLevel)
    return 0
  })
}

/**
 * Sets the login for a host. The password is typed or read from standard input, because other users can see arguments.
 */
export async function setCredential(
  context: Context,
  word: string,
  {
    login = ANYBODY,
    tokenFile,
    ...values
  }: ScopeValues & { readonly login: string | undefined; readonly tokenFile: string | undefined },
): Promise<number> {
  const { io } = context
  const host = hostOf(word)
  const read = await givenToken(io, { tokenFile })
  const piped = read ?? (io.askHidden ? undefined : requirePassword(withoutLineBreak(await io.readStdin())))
  return onScope(context, values, 'credentials', async ({ platform, scope, signal }) => {
    const password = piped ?? (await io.askHidden?.(`Password or token of ${login} at ${host}`, signal))
    if (password === undefined) return INTERRUPTED
    io.secrets?.add([password])
    const body = { user: login, password: requirePassword(password) }
    await platform.call('PUT /credentials/:scope/:host', { params: { scope, host }, body }, signal)
    io.stdout.write(`Set the credential of ${login} at ${host} for ${whose(scope)}\n`)
    return 0
  })
}

/** Removes the login for a host. */
export async function unsetCredential(context: Context, word: string, values: ScopeValues): Promise<number> {
  const host = hostOf(word)
  return onScope(context, values, 'credentials', async ({ platform, scope, signal }) => {
    await platform.call('DELETE /credentials/:scope/:host', { params: { scope, host } }, signal)
    context.io.stdout.write(`Removed the credential for ${host} of ${whose(scope)}\n`)
    return 0
  })
}

function requirePassword(password: string): string {
  if (password !== '') return password
  throw new UserError('there is no password', { hint: 'type it, or pipe it in: `… < token.txt`' })
}

/**
 * Returns the host in an argument. Also accepts a URL, because users paste URLs. Rejects a URL with a password, because
 * other users can already have seen the password.
 */
function hostOf(word: string): string {
  if (!/^https?:\/\//i.test(word)) {
    const host = word.toLowerCase()
    if (isForgeHost(host)) return host
    if (!word.includes('@'))
      throw new UsageError(`\`${word}\` is not a host of a forge`, { hint: 'write `git.example.com`' })
    throw new UsageError('a host has no `@`', { hint: 'write `git.example.com`, and the user with `--login`' })
  }
  const url = URL.canParse(word) ? new URL(word) : undefined
  if (url && !url.username && !url.password && isForgeHost(url.host)) return url.host
  throw new UsageError('the host is not valid', {
    hint: 'write `git.example.com`; devctl asks for the password, because other programs on this machine can see arguments',
  })
}
