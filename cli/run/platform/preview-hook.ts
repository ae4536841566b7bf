import { FORGES } from '../../../adapters/forge/forges.ts'
import { UsageError, UserError } from '../../../compiler/diagnostics/user-error.ts'
import { jsonText, printable } from '../../../compiler/values/printable.ts'
import { agoText } from '../../../environment/ago.ts'
import type { Webhook } from '../../../platform/api/hooks.ts'
import type { Context } from '../../command.ts'
import type { PreviewHookValues } from '../../commands/platform/preview.ts'
import { INTERRUPTED } from '../../terminal/exit-status.ts'
import { printSummary } from '../../terminal/report.ts'
import { toTable } from '../../terminal/table.ts'
import { givenToken, withoutLineBreak } from '../secret-input.ts'
import { type NeedsPlatform, type OnPlatform, onPlatform, requirePlatform } from './on-platform.ts'
import { repositoryHere } from './repository-here.ts'

/**
 * Adds a webhook for a repository. The token for the repository is typed, or read from a file or standard input,
 * because other users can see arguments.
 */
export async function addHook(
  context: Context,
  named: string | undefined,
  { output, context: _, tokenFile, ...wanted }: PreviewHookValues,
  contextName: string | undefined,
): Promise<number> {
  const { io } = context
  await requirePlatform(io, needs('preview hook add', contextName))
  const repository = await repositoryHere(io, named, 'preview hook add')
  const read = await givenToken(io, { tokenFile })
  const piped = read ?? (io.askHidden ? undefined : requireToken(withoutLineBreak(await io.readStdin())))
  return withHooks(context, contextName, 'preview hook add', async ({ platform, signal }) => {
    const typed = piped ?? (await io.askHidden?.(`Token for ${repository}`, signal))
    if (typed === undefined) return INTERRUPTED
    const token = requireToken(typed)
    io.secrets?.add([token])
    const body = { repository, token, ...defined(wanted) }
    const { hook, secret } = await platform.call('POST /hooks', { body }, signal)
    if (output === 'json') io.stdout.write(`${jsonText({ ...hook, ...(secret !== undefined && { secret }) }, 2)}\n`)
    else io.stdout.write(addedText(hook, secret))
    return 0
  })
}

/** Prints webhooks and their known pull requests. */
export async function listHooks(
  context: Context,
  { output, context: contextName }: Pick<PreviewHookValues, 'output' | 'context'>,
): Promise<number> {
  const { io, logLevel } = context
  return withHooks(context, contextName, 'preview hook list', async ({ platform, signal }) => {
    const { items } = await platform.call('GET /hooks', {}, signal)
    if (output === 'json') io.stdout.write(`${jsonText(items, 2)}\n`)
    else if (items.length > 0) io.stdout.write(listText(items))
    else printSummary('There are no webhooks; to add one, run `devctl preview hook add`', io, logLevel)
    return 0
  })
}

/**
 * Removes the webhook whose id, prefix or repository is `which`. Without an argument, removes the webhook of the
 * repository of this folder. Throws an error if there is no such webhook or if there are several.
 */
export async function removeHook(
  context: Context,
  which: string | undefined,
  contextName: string | undefined,
): Promise<number> {
  await requirePlatform(context.io, needs('preview hook remove', contextName))
  const isAddress = which === undefined || which.includes('://')
  const wanted = isAddress ? await repositoryHere(context.io, which, 'preview hook remove') : which
  return withHooks(context, contextName, 'preview hook remove', async ({ platform, signal }) => {
    const { items } = await platform.call('GET /hooks', {}, signal)
    const found = items.filter(one => [one.id, one.prefix, one.repository].includes(wanted))
    const [hook, other] = found
    if (!hook)
      throw new UserError(`there is no webhook \`${wanted}\``, { hint: '`devctl preview hook list` lists them' })
    if (other)
      throw new UsageError(`\`${wanted}\` has several webhooks`, {
        hint: `name one by its id: ${found.map(({ id }) => `\`${id}\``).join(', ')}`,
      })
    const { left } = await platform.call('DELETE /hooks/:id', { params: { id: hook.id } }, signal)
    const { stdout, stderr } = context.io
    stdout.write(`Removed the webhook of ${hook.repository}; its previews stay\n`)
    if (left !== undefined)
      stderr.write(`warning: it is still in the settings of the repository, remove it there: ${printable(left)}\n`)
    else if (!hook.isCreated) stdout.write(`Remove it from the settings of the repository, too: ${hook.address}\n`)
    return 0
  })
}

/** Allows the deployment of one commit of a fork. */
export async function approvePreview(
  context: Context,
  name: string,
  { commit, context: contextName }: { readonly commit: string | undefined; readonly context: string | undefined },
): Promise<number> {
  if (commit === undefined)
    throw new UsageError('which commit?', {
      hint: 'review its changes, and name it with `--commit SHA`: `devctl preview hook list` shows it',
    })
  if (!/^[0-9a-f]{1,64}$/.test(commit)) throw new UsageError(`\`${commit}\` is not a commit`)
  return withHooks(context, contextName, 'preview approve', async ({ platform, signal }) => {
    await platform.call('POST /previews/:name/approve', { params: { name }, body: { commit } }, signal)
    context.io.stdout.write(`Approved ${commit} for preview ${name}\n`)
    return 0
  })
}

function addedText({ repository, prefix, address, forge, forks }: Webhook, secret: string | undefined): string {
  const of = {
    never: 'from forks get none',
    approve: 'from forks wait for `devctl preview approve`',
    sandbox: 'from forks get them, too',
  }
  const gets = `Pull requests of ${repository} get previews, ${prefix}pr-NUMBER; those ${of[forks]}.`
  if (secret === undefined) return `${gets}\nThe webhook was created in the settings of the repository.\n`
  return [
    gets,
    'Add the webhook to the repository; the secret is not shown again:',
    `  URL           ${address}`,
    `  Secret        ${secret}`,
    '  Content type  application/json',
    `  Events        ${FORGES[forge].webhookEvents}`,
    '',
  ].join('\n')
}

function listText(items: readonly Webhook[]): string {
  const hooks = items.map(({ id, repository, prefix, forks, scope, owner }) => {
    return [id, repository, `${prefix}pr-…`, forks, scope, owner.login]
  })
  const deliveries = items.map(one => [one.id, ...deliveryOf(one)])
  const pulls = items
    .flatMap(one => one.pulls)
    .map(one => [one.preview, printable(one.author), one.commit, stateOf(one), printable(one.title ?? '')])
  const tables = [
    toTable([['Id', 'Repository', 'Previews', 'Forks', 'Scope', 'Owner'], ...hooks]),
    toTable([['Id', 'Last delivery', 'Event', 'Result'], ...deliveries]),
  ]
  if (pulls.length > 0) tables.push(toTable([['Preview', 'Author', 'Commit', 'State', 'Title'], ...pulls]))
  return tables.join('\n')
}

/**
 * Returns the time, the event and the result of the last delivery of a webhook, for a table. If a delivery with an
 * invalid signature came later, describes that delivery instead.
 */
function deliveryOf({ lastDelivery: last, lastUnsigned }: Webhook): readonly [string, string, string] {
  const ago = (time: string) => agoText(Date.now() - Date.parse(time))
  if (lastUnsigned !== undefined && (!last || Date.parse(lastUnsigned) > Date.parse(last.time)))
    return [ago(lastUnsigned), '-', 'refused: not signed with the secret of the webhook']
  if (!last) return ['never', '-', '-']
  const { event = '-', result, number, reason } = last
  const about = number === undefined ? '' : `, pull request ${number}`
  return [ago(last.time), event, `${result}${about}${reason === undefined ? '' : `: ${reason}`}`]
}

function stateOf({ isWaiting, deployed, commit, problem }: Webhook['pulls'][number]): string {
  if (isWaiting) return 'waiting for approval'
  if (problem !== undefined) return printable(problem)
  return deployed === commit ? 'deployed' : 'not deployed'
}

/** Returns a copy of an object without its undefined properties. */
const defined = <T extends object>(values: T): { readonly [K in keyof T]?: NonNullable<T[K]> } =>
  // Each entry comes from `values`, without the undefined ones.
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never

function requireToken(token: string): string {
  if (token !== '') return token
  throw new UserError('there is no token', { hint: 'type it, or pipe it in: `… < token.txt`' })
}

const needs = (command: string, context: string | undefined): NeedsPlatform => ({
  command,
  options: { context },
  instead: () => 'on a platform, `devctl preview deploy` deploys previews from your CI jobs',
})

function withHooks(
  { io }: Context,
  context: string | undefined,
  command: string,
  work: (on: OnPlatform) => Promise<number>,
): Promise<number> {
  return onPlatform(io, {
    ...needs(command, context),
    hint: 'is the platform running?',
    work,
  })
}
