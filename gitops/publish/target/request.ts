import { findForge } from '../../../adapters/forge/ask-kind.ts'
import type { Branches, Forge, RequestText } from '../../../adapters/forge/forge.ts'
import type { Address } from '../../../adapters/git/address.ts'
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { ManifestEnvironment } from '../../../compiler/manifest/manifest.ts'
import { shownPlace } from '../../../compiler/text/source.ts'
import type { ForgeKind } from '../../../compiler/values/repository-names.ts'
import type { KnownSecrets } from '../../../compiler/values/secrets/known-secrets.ts'
import type { LocalContext } from '../../../project/session.ts'
import { commandLine } from '../../repository/layout/readme.ts'
import { type MessageInput, subjectOf } from '../../repository/message.ts'
import { type ImageChange, requestText } from '../../repository/request/request-text.ts'
import type { PublishEvent } from '../events.ts'

/** A pull request, or the information for opening one by hand. */
export interface OpenedRequest extends Branches, RequestText {
  /** URL of the pull request or, if the request is not open yet, of the page on which it can be opened. */
  readonly page?: string
  readonly isOpen: boolean
  /** Reason why devctl cannot open the request although the server is supported: a missing token. */
  readonly why?: string
}

/** Repository and server on which pull requests are opened. */
export interface RequestPlace {
  readonly address: Address
  /** Kind of server set by the caller; overrides the environment. */
  readonly forge: ForgeKind | undefined
  /** Environment whose settings name the reviewers of requests. */
  readonly environment: ManifestEnvironment | undefined
}

/**
 * Opens a pull request, or updates the open one. Without a token, only returns the text of the request. Throws a
 * ForgeError.
 */
export async function openRequest(
  world: LocalContext<PublishEvent>,
  place: RequestPlace,
  wanted: Branches & RequestText,
): Promise<OpenedRequest> {
  const { head, base, title, body } = wanted
  const forge = await forgeFor(world, place)
  if (!forge?.requests) {
    const page = forge?.newRequestPage({ head, base, title })
    const why = forge?.withoutToken
    return { ...wanted, isOpen: false, ...(page !== undefined && { page }), ...(why !== undefined && { why }) }
  }
  const rules = place.environment?.publish.pullRequest
  const asked = {
    head,
    base,
    title,
    body,
    labels: rules?.labels.map(({ value }) => value) ?? [],
    reviewers: rules?.reviewers.map(({ value }) => value) ?? [],
    draft: rules?.draft ?? false,
  }
  const { request, notes } = await forge.requests.open(asked, { signal: world.signal }).catch(error => {
    throw notOpened(error, head, forge.newRequestPage({ head, base, title }))
  })
  warn(world, notes)
  return { ...wanted, page: request.url, isOpen: true }
}

/**
 * Returns the forge's error with a note that the branch is pushed and that the request can be opened by hand. Returns
 * errors other than UserErrors unchanged.
 */
function notOpened(error: unknown, head: string, page: string): unknown {
  if (!(error instanceof UserError)) return error
  const { message, notes, hint } = error
  return new UserError(message, {
    notes: [...notes, `\`${head}\` is pushed; the request can be opened at ${page}`],
    hint: `${hint === undefined ? '' : `${hint}; `}publish again to have it opened`,
    cause: error,
  })
}

/**
 * Closes the open request of an application that no longer has changes; does nothing without a token. Throws a
 * ForgeError.
 */
export async function closeRequest(
  world: LocalContext<PublishEvent>,
  place: RequestPlace,
  { head, base }: Pick<Branches, 'head' | 'base'>,
): Promise<void> {
  const { signal } = world
  const requests = (await forgeFor(world, place))?.requests
  const request = await requests?.find({ head, base }, { signal })
  if (!requests || !request) return
  const notes = await requests.close(request, `\`${base}\` already has the rendered manifests.`, { signal })
  world.on({ type: 'request-closed', url: request.url })
  warn(world, notes)
}

function warn({ on }: LocalContext<PublishEvent>, notes: readonly string[]): void {
  for (const text of notes) on({ type: 'warning', text })
}

function forgeFor(
  { workspace, signal }: LocalContext,
  { address, forge, environment }: RequestPlace,
): Promise<Forge | undefined> {
  const kind = forge ?? environment?.publish.pullRequest?.forge
  const { url, isNamedByUser } = address
  return findForge(url, workspace.env, { isNamedByUser, ...(kind !== undefined && { forge: kind }) }, signal)
}

/**
 * Returns the title and body of the request for a commit, without secrets. `path` is the application's folder, and
 * `options` are those with which `publish` produces the same files again.
 */
export function requestTextOf(
  message: MessageInput,
  {
    head,
    path,
    diagnostics,
    options,
  }: {
    readonly head: string
    readonly path: string
    readonly diagnostics: readonly Diagnostic[]
    readonly options: readonly string[]
  },
  secrets: KnownSecrets | undefined,
): RequestText {
  const { application, environment, changes, files, repository, source } = message
  const text = requestText({
    environment: environment ?? 'no name',
    application,
    subject: subjectOf(message),
    changes,
    ...(files !== undefined && { files }),
    images: imageChanges(message),
    diagnostics: diagnostics
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
    branch: head,
    path,
    verify: commandLine('devctl', 'publish', ...options, '--verify'),
  })
  return secrets ? { title: secrets.maskStrictly(text.title), body: secrets.maskStrictly(text.body) } : text
}

function imageChanges({ images, imagesBefore }: MessageInput): readonly ImageChange[] {
  const names = [...new Set([...Object.keys(imagesBefore), ...images.keys()])].sort()
  return names.flatMap(name => {
    const before = Object.hasOwn(imagesBefore, name) ? imagesBefore[name] : undefined
    const after = images.get(name)
    if (before === after) return []
    return [{ name, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
  })
}
