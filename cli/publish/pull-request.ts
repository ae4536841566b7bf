import { findForge } from '../../adapters/forge/ask-kind.ts'
import type { Branches, Forge, RequestText } from '../../adapters/forge/forge.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { ManifestEnvironment } from '../../compiler/manifest/manifest.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import type { KnownSecrets } from '../../compiler/values/known-secrets.ts'
import { type MessageInput, subjectOf } from '../../operations/gitops/message.ts'
import { type ImageChange, requestText } from '../../operations/gitops/request/request-text.ts'
import type { Context } from '../command.ts'
import type { Io } from '../io.ts'
import type { Published } from './published.ts'

/** A pull request, or what is needed to open it by hand. */
export interface Request {
  readonly title: string
  readonly body: string
  /** Its page, or the one on which it can be opened. */
  readonly page?: string
  readonly isOpen: boolean
  /** What is printed about it. */
  readonly lines: readonly string[]
}

/** Opens the pull request of the branch that was pushed, or brings the open one up to date; without a token for it, tells its title and body. Throws a ForgeError. */
export async function openRequest(
  { io }: Context,
  published: Published,
  base: string,
  message: MessageInput,
): Promise<Request> {
  const { destination, project, signal } = published
  const head = destination.target.request!
  const text = textOf(published, message, head, io.secrets)
  return requestWith(io, await forgeFor(io.env, published), { ...text, head, base }, project.environment, signal)
}

/** The same for who has the text already; the environment says who is to look at it. */
export async function requestWith(
  io: Io,
  forge: Forge | undefined,
  { head, base, title, body }: Branches & RequestText,
  environment: ManifestEnvironment | undefined,
  signal: AbortSignal,
): Promise<Request> {
  const rules = environment?.publish.pullRequest
  if (!forge?.requests) {
    const page = forge?.newRequestPage({ head, base, title })
    const why = forge?.withoutToken
    return {
      title,
      body,
      ...(page !== undefined && { page }),
      isOpen: false,
      lines: [
        '',
        `title: ${title}`,
        '',
        body,
        ...(why === undefined ? [] : [why]),
        page === undefined ? `open a pull request from \`${head}\` to \`${base}\`` : `open it at ${page}`,
      ],
    }
  }
  const wanted = {
    head,
    base,
    title,
    body,
    labels: rules?.labels.map(({ value }) => value) ?? [],
    reviewers: rules?.reviewers.map(({ value }) => value) ?? [],
    draft: rules?.draft ?? false,
  }
  const { request, notes } = await forge.requests.open(wanted, { signal }).catch(error => {
    throw notOpened(error, head, forge.newRequestPage({ head, base, title }))
  })
  for (const note of notes) io.stderr.write(`warning: ${note}\n`)
  return { title, body, page: request.url, isOpen: true, lines: [request.url] }
}

/** The failure of a forge, with what is done already: the branch is there, and the request can be opened by hand. */
function notOpened(error: unknown, head: string, page: string): unknown {
  if (!(error instanceof UserError)) return error
  const { message, notes, hint } = error
  return new UserError(message, {
    notes: [...notes, `\`${head}\` is pushed; the request can be opened at ${page}`],
    hint: `${hint === undefined ? '' : `${hint}; `}publish again to have it opened`,
    cause: error,
  })
}

/** Closes the open request of an application that has nothing to change any more; without a token nothing is asked. Throws a ForgeError. */
export async function closeRequest({ io }: Context, published: Addressed, base: string): Promise<void> {
  const { destination, signal } = published
  const head = destination.target.request!
  const requests = (await forgeFor(io.env, published))?.requests
  const request = await requests?.find({ head, base }, { signal })
  if (!requests || !request) return
  const notes = await requests.close(request, `\`${base}\` already holds what the source renders to.`, { signal })
  io.stderr.write(`closed ${request.url}\n`)
  for (const note of notes) io.stderr.write(`warning: ${note}\n`)
}

/** Tells what has become of the branch of a request that nobody wants any more. */
export function tellWithdrawn(
  { io }: Context,
  { destination }: Addressed,
  base: string,
  what: 'removed' | 'left',
): void {
  const head = destination.target.request!
  io.stderr.write(
    what === 'removed'
      ? `removed the branch \`${head}\`: \`${base}\` already holds what it was for\n`
      : `warning: the server does not let \`${head}\` be removed: close its request, if one is open, for it would bring back what is old\n`,
  )
}

/** Where a request is, and how long may be waited for it. */
type Addressed = Pick<Published, 'destination' | 'project' | 'forge' | 'signal'>

function forgeFor(
  env: Context['io']['env'],
  { destination, project, forge, signal }: Addressed,
): Promise<Forge | undefined> {
  const kind = forge ?? project.environment?.publish.pullRequest?.forge
  const { url, isNamedByUser } = destination.target.address
  return findForge(url, env, { isNamedByUser, ...(kind !== undefined && { forge: kind }) }, signal)
}

function textOf(published: Published, message: MessageInput, branch: string, secrets: KnownSecrets | undefined) {
  const { compiled, destination } = published
  const { application, environment, changes, files, repository, source } = message
  const words = environment === undefined ? '' : ` --environment ${environment}`
  const text = requestText({
    environment: environment ?? 'no name',
    application,
    subject: subjectOf(message),
    changes,
    ...(files !== undefined && { files }),
    images: imageChanges(message),
    diagnostics: compiled.diagnostics
      .filter(({ severity }) => severity !== 'info')
      .map(({ severity, message, span }) => {
        return { severity, message, ...(span && { place: shownPlace(span) }) }
      }),
    ...(source && {
      source: {
        ...(repository !== undefined && { repository }),
        commit: source.commit,
        isDirty: source.isDirty,
        subject: source.subject,
      },
    }),
    branch,
    path: destination.path,
    verify: `devctl publish${words} --verify`,
  })
  return secrets ? { title: secrets.mask(text.title), body: secrets.mask(text.body) } : text
}

function imageChanges({ images, imagesBefore }: MessageInput): readonly ImageChange[] {
  const names = [...new Set([...Object.keys(imagesBefore), ...images.keys()])].sort()
  return names.flatMap(name => {
    const [before, after] = [imagesBefore[name], images.get(name)]
    if (before === after) return []
    return [{ name, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
  })
}
