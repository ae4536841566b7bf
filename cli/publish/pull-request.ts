import type { Environment } from '../../compiler/manifest/manifest.ts'
import type { Branches, Forge, RequestText } from '../../gitops/forge/forge.ts'
import { forgeOf } from '../../gitops/forge/forge-of.ts'
import { type ImageChange, requestText } from '../../gitops/forge/request-text.ts'
import { type MessageInput, subjectOf } from '../../gitops/message.ts'
import type { Context } from '../command.ts'
import type { Io } from '../io.ts'
import type { Published } from './outcome.ts'

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
  const text = textOf(published, message, head)
  return requestWith(io, forgeFor(io.env, published), { ...text, head, base }, project.environment, signal)
}

/** The same for who has the text already; the environment says who is to look at it. */
export async function requestWith(
  io: Io,
  forge: Forge | undefined,
  { head, base, title, body }: Branches & RequestText,
  environment: Environment | undefined,
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
        title,
        '',
        body,
        ...(why === undefined ? [] : [why]),
        page === undefined ? `open a pull request from \`${head}\` to \`${base}\`` : `open it at ${page}`,
      ],
    }
  }
  const { request, notes } = await forge.requests.open(
    {
      head,
      base,
      title,
      body,
      labels: rules?.labels.map(({ value }) => value) ?? [],
      reviewers: rules?.reviewers.map(({ value }) => value) ?? [],
      draft: rules?.draft ?? false,
    },
    { signal },
  )
  for (const note of notes) io.stderr.write(`warning: ${note}\n`)
  return { title, body, page: request.url, isOpen: true, lines: [request.url] }
}

/** Closes the open request of an application that has nothing to change any more. */
export async function closeRequest({ io }: Context, published: Published, base: string): Promise<void> {
  const { destination, signal } = published
  const head = destination.target.request!
  const requests = forgeFor(io.env, published)?.requests
  const request = await requests?.find({ head, base }, { signal })
  if (!requests || !request) {
    io.stderr.write(`warning: \`${head}\` has changes that are no longer wanted: close its request, if one is open\n`)
    return
  }
  const notes = await requests.close(request, `\`${base}\` already holds what the source renders to.`, { signal })
  io.stderr.write(`closed ${request.url}\n`)
  for (const note of notes) io.stderr.write(`warning: ${note}\n`)
}

function forgeFor(env: Context['io']['env'], { destination, project, forge }: Published): Forge | undefined {
  const kind = forge ?? project.environment?.publish.pullRequest?.forge
  return forgeOf(destination.target.address.url, env, kind === undefined ? {} : { forge: kind })
}

function textOf(published: Published, message: MessageInput, branch: string) {
  const { compiled, destination } = published
  const { application, environment, changes, files, repository, source } = message
  const words = environment === undefined ? '' : ` --environment ${environment}`
  return requestText({
    environment: environment ?? 'no name',
    application,
    subject: subjectOf(message),
    changes,
    ...(files !== undefined && { files }),
    images: imageChanges(message),
    diagnostics: compiled.diagnostics
      .filter(({ severity }) => severity !== 'info')
      .map(({ severity, message, span }) => {
        if (!span) return { severity, message }
        const { line, column } = span.file.position(span.start)
        return { severity, message, place: `${span.file.path}:${line}:${column}` }
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
}

function imageChanges({ images, imagesBefore }: MessageInput): readonly ImageChange[] {
  const names = [...new Set([...Object.keys(imagesBefore), ...images.keys()])].sort()
  return names.flatMap(name => {
    const [before, after] = [imagesBefore[name], images.get(name)]
    if (before === after) return []
    return [{ name, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
  })
}
