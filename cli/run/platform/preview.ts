import { UsageError, UserError } from '../../../compiler/diagnostics/user-error.ts'
import { jsonText, printable } from '../../../compiler/values/printable.ts'
import type { Preview, PreviewDetails } from '../../../platform/api/previews.ts'
import { previewName } from '../../../platform/rules/names.ts'
import { branchConflict } from '../../../platform/rules/previews/previews.ts'
import type { Platform } from '../../../platform/session/connect-platform.ts'
import type { CommentPreview } from '../../../platform/session/preview-comment.ts'
import type { Context } from '../../command.ts'
import type { PreviewDeployValues } from '../../commands/platform/preview.ts'
import { renderEndpoints } from '../../terminal/print-endpoints.ts'
import { listText } from '../../terminal/print-list.ts'
import { printRun } from '../../terminal/print-run.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import { printSummary, printWarning } from '../../terminal/report.ts'
import { toTable } from '../../terminal/table.ts'
import { cloneLoginOf } from './clone-login.ts'
import { isEndOfRun } from './end-of-run.ts'
import { notFoundHint } from './not-found-hint.ts'
import {
  type NeedsPlatform,
  type OnPlatform,
  onPlatform,
  requirePlatform,
  sameTarget,
  whileItContinues,
} from './on-platform.ts'
import { addressHere, lastPart, repositoryHere, withoutLogin } from './repository-here.ts'

interface SourceValues {
  readonly branch: string | undefined
  readonly repository: string | undefined
  readonly context: string | undefined
}

/** Deploys a branch to a preview. Returns the exit status, which with `--wait` is the status of the run. */
export async function deployPreview(
  context: Context,
  named: string | undefined,
  values: PreviewDeployValues,
): Promise<number> {
  const { io } = context
  io.secrets?.add(Object.values(values.var ?? {}))
  await requirePlatform(io, needs('deploy', values))
  if (values.sourceUrl !== undefined) withoutLogin(values.sourceUrl, '--source-url')
  const { repository, branch } = await sourceHere(context, values)
  const name = named ?? nameOf(repository, branch)
  if (values.comment && !values.wait)
    throw new UsageError('`--comment` needs `--wait`', { hint: 'the result is known only after waiting' })
  const { commentPlace, previewComment } = await import('../../../platform/session/preview-comment.ts')
  const place = values.comment ? commentPlace(repository, values.sourceUrl, io.env) : undefined
  return withPreviews(context, values, 'deploy', name, async ({ platform, signal }) => {
    // Fails here, before anything is deployed, if no comment can be written.
    const comment = place && (await previewComment(place, io.env, signal))
    const { file, scope, sourceUrl, label } = values
    const body = {
      name,
      repository,
      scope,
      ...(branch !== undefined && { branch }),
      ...(file !== undefined && { file }),
      ...(sourceUrl !== undefined && { sourceUrl }),
      ...(label && { labels: [...label] }),
      ...(values.var && { variables: { ...values.var } }),
      ...cloneLoginOf(io.env),
    }
    const made = await platform.call('POST /previews', { body }, signal)
    io.stderr.write(`Preview ${made.name}: ${pageOf(platform, made.name)}\n`)
    if (values.wait) {
      let problem: string | undefined
      const status = await follow(context, platform, made, signal, text => {
        problem ??= text
      })
      if (comment) await writeComment(context, platform, made.name, { comment, problem }, signal)
      return status
    }
    const next = `devctl preview endpoints ${made.name}${sameTarget(values)}`
    io.stderr.write(`Scheduled the deploy of ${made.name}; \`${next}\` lists its addresses\n`)
    return 0
  })
}

/**
 * Writes the comment about a preview. If that fails, only warns, because the result of the deploy decides the exit
 * status.
 */
async function writeComment(
  { io, logLevel }: Context,
  platform: Platform,
  name: string,
  { comment, problem }: { readonly comment: CommentPreview; readonly problem: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await platform.call('GET /previews/:name', { params: { name } }, signal)
    await comment(found, pageOf(platform, name), signal, problem)
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error
    printWarning({ text: error.message, hint: error.hint }, io, logLevel)
  }
}

/** Destroys a preview, and waits until it is deleted. Throws a UserError if it does not exist. */
export async function destroyPreview(
  context: Context,
  named: string | undefined,
  values: SourceValues & {
    readonly timeout: number | undefined
    readonly force: boolean
    readonly ignoreNotFound: boolean
  },
): Promise<number> {
  const { io } = context
  await requirePlatform(io, needs('destroy', values))
  const here = named === undefined ? await placeHere(context, 'destroy', values) : { name: named }
  const { name } = here
  return withPreviews(context, values, 'destroy', name, async ({ platform, signal }) => {
    const { unlessNotThere } = await import('../../../platform/session/connect-platform.ts')
    const { followDeletion } = await import('./follow-deletion.ts')
    const params = { name }
    const there = await unlessNotThere(platform.call('GET /previews/:name', { params }, signal))
    if (!there) {
      if (!values.ignoreNotFound) throw await missingPreview(platform, name, signal)
      io.stderr.write(`preview ${name} does not exist: nothing to destroy\n`)
      return 0
    }
    const other = named === undefined && branchConflict({ name, derived: name }, there, here)
    if (other)
      throw new UserError(`preview \`${name}\` ${other}`, { hint: `name it: \`devctl preview destroy ${name}\`` })
    const query = values.force ? { force: 'true' as const } : {}
    await platform.call('DELETE /previews/:name', { params, query }, signal)
    io.stdout.write(`Destroying preview ${name}\n`)
    await followDeletion(context, {
      what: `preview \`${name}\``,
      again: `devctl preview destroy ${name}${sameTarget(values)}`,
      async look() {
        const found = await unlessNotThere(platform.call('GET /previews/:name', { params }, signal))
        return found && { ...found, runs: found.run ? [found.run] : [] }
      },
      log: ({ id }) =>
        platform.follow('GET /previews/:name/runs/:id/log', { params: { name, id } }, signal, isEndOfRun),
      signal,
    })
    return 0
  })
}

async function missingPreview(platform: Platform, name: string, signal: AbortSignal): Promise<UserError> {
  const { items } = await platform.call('GET /previews', { query: {} }, signal)
  const names = items.map(one => one.name)
  return new UserError(`preview \`${name}\` does not exist, or you may not see it`, {
    hint: notFoundHint(name, names, 'previews that you may see'),
  })
}

/** Prints the previews that the user is allowed to see. */
export async function listPreviews(
  context: Context,
  values: {
    readonly label: string | undefined
    readonly context: string | undefined
    readonly output: 'text' | 'json' | 'yaml' | 'name'
  },
): Promise<number> {
  const { io, logLevel } = context
  return withPreviews(context, { ...values, timeout: undefined }, 'list', undefined, async ({ platform, signal }) => {
    const query = { urls: 'true' as const, ...(values.label !== undefined && { label: values.label }) }
    const found = await platform.call('GET /previews', { query }, signal)
    const { standingsOf } = await import('../../../platform/session/preview-standings.ts')
    const standings = await standingsOf(platform, found.items, signal)
    const items = found.items.map(one => {
      const state = standings.get(one.name)?.state
      return { ...one, ...(state !== undefined && { state }) }
    })
    const rows = items.map(one => [
      one.name,
      standings.get(one.name)?.text ?? one.status,
      one.scope,
      one.owner.login,
      one.branch ?? '-',
      one.labels.join(', ') || '-',
      one.urls?.join(', ') || '-',
    ])
    const text = () => toTable([['Name', 'Status', 'Scope', 'Owner', 'Branch', 'Labels', 'URLs'], ...rows])
    if (items.length === 0 && values.output === 'text') printSummary('There are no previews', io, logLevel)
    else io.stdout.write(await listText(values.output, { records: items, names: items.map(({ name }) => name), text }))
    return 0
  })
}

/** Prints the public addresses of a preview. If there are none, prints the reason on standard error. */
export async function previewEndpoints(
  context: Context,
  named: string | undefined,
  values: SourceValues & { readonly output: 'text' | 'json' | 'name' | 'md' },
): Promise<number> {
  const { stdout, stderr } = context.io
  await requirePlatform(context.io, needs('endpoints', values))
  const name = named ?? (await placeHere(context, 'endpoints', values)).name
  return withPreviews(context, { ...values, timeout: undefined }, 'endpoints', name, async ({ platform, signal }) => {
    const found = await platform.call('GET /previews/:name', { params: { name } }, signal)
    if (found.endpoints.length > 0 || values.output === 'json')
      stdout.write(values.output === 'text' ? endpointText(found) : formatted(found, values.output))
    if (found.endpoints.length === 0) stderr.write(`preview ${name} has no endpoints: ${whyNone(found, values)}\n`)
    return 0
  })
}

/** Formats the endpoints as `--output` requests; JSON has all fields of the platform's response. */
const formatted = ({ endpoints }: PreviewDetails, format: 'json' | 'name' | 'md'): string =>
  format === 'json'
    ? `${jsonText(endpoints, 2)}\n`
    : renderEndpoints(
        endpoints.map(({ url, services, ready }) => ({ url, services, isReady: ready })),
        format,
      )

const endpointText = ({ endpoints }: PreviewDetails): string => {
  const width = Math.max(0, ...endpoints.map(({ url }) => url.length))
  return endpoints
    .map(
      one =>
        `${printable(one.url).padEnd(width)}  ${one.services.map(printable).join(', ')}${one.ready ? '' : ' (not ready)'}\n`,
    )
    .join('')
}

const whyNone = ({ status, name, run }: PreviewDetails, values: SourceValues): string => {
  if (status === 'Deploying') return 'it is being deployed'
  if (status === 'Failed')
    return `its deploy failed; \`devctl pipeline logs --namespace ${name} --name ${run?.environment ?? 'NAME'}${sameTarget(values)}\` shows why`
  return 'no service has a public port'
}

const pageOf = ({ url }: Platform, name: string): string => `${url}/namespaces/${name}`

async function follow(
  context: Context,
  platform: Platform,
  { name, run }: Preview,
  signal: AbortSignal,
  onError: (text: string) => void,
): Promise<number> {
  const { io, logLevel } = context
  const progress = await startProgress(io, logLevel, 'text', Date.now)
  const events = platform.follow(
    'GET /previews/:name/runs/:id/log',
    { params: { name, id: run?.id ?? '' } },
    signal,
    isEndOfRun,
  )
  return printRun({ io, logLevel }, progress, events, onError).finally(() => progress.pause())
}

const INSTEAD = {
  deploy: '`devctl deploy --namespace NAME` deploys the application in this folder to a namespace',
  destroy: '`devctl destroy --namespace NAME` destroys the application in this folder',
  list: '`devctl ps` shows the services of the application in this folder',
  endpoints: '`devctl endpoints --namespace NAME` lists the addresses of the application in this folder',
}

const needs = (verb: keyof typeof INSTEAD, { context }: { readonly context: string | undefined }): NeedsPlatform => ({
  command: `preview ${verb}`,
  options: { context },
  instead: () => INSTEAD[verb],
})

function withPreviews(
  { io }: Context,
  values: { readonly context: string | undefined; readonly timeout: number | undefined },
  verb: keyof typeof INSTEAD,
  name: string | undefined,
  work: (on: OnPlatform) => Promise<number>,
): Promise<number> {
  const list = `devctl preview list${sameTarget(values)}`
  const again = name === undefined ? undefined : `\`${list}\` shows the status of ${name}`
  return onPlatform(io, {
    ...needs(verb, values),
    timeout: values.timeout,
    ...whileItContinues(io, again),
    work,
  })
}

/**
 * Returns the repository and the branch to use. Without options, both come from the checkout in the current folder. For
 * another repository without `--branch`, the branch is undefined, which means its main branch. Throws a UsageError if
 * the checkout is not on a branch; `instead` adds an alternative to `--branch` to the hint.
 */
async function sourceHere(
  { io }: Context,
  values: SourceValues,
  instead = '',
): Promise<{ readonly repository: string; readonly branch: string | undefined }> {
  const { askOrigin } = await import('../../../operations/deploy/change-origin.ts')
  const repository = await repositoryHere(io, values.repository)
  if (values.branch !== undefined) return { repository, branch: values.branch }
  const isHere = values.repository === undefined || same(values.repository, await addressHere(io))
  if (!isHere) return { repository, branch: undefined }
  const done = new AbortController()
  const { branch } = await askOrigin(io.cwd, io.env, done.signal).commit.finally(() => done.abort())
  if (branch !== undefined) return { repository, branch }
  throw new UsageError('which branch? this checkout is not on one', {
    hint: `name it with \`--branch BRANCH\`${instead}`,
  })
}

const same = (one: string, other: string | undefined): boolean =>
  one.replace(/(\.git)?\/*$/, '').toLowerCase() === other?.replace(/(\.git)?\/*$/, '').toLowerCase()

/** Returns the branch of this checkout, or of the options, and the name of its preview. */
async function placeHere(
  context: Context,
  verb: 'destroy' | 'endpoints',
  values: SourceValues,
): Promise<{ readonly name: string; readonly branch?: string }> {
  const instead = `, or name the preview: \`devctl preview ${verb} NAME\``
  const { repository, branch } = await sourceHere(context, values, instead)
  return { name: nameOf(repository, branch), ...(branch !== undefined && { branch }) }
}

const nameOf = (repository: string, branch: string | undefined): string =>
  previewName(lastPart(repository), branch ?? 'main')
