import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { LocalContext } from '../../project/session.ts'
import type { PublishEvent } from '../publish/events.ts'
import { fetchedEvents } from '../publish/fetched-events.ts'
import { type OpenedRequest, openRequest } from '../publish/target/request.ts'
import { type AddedOnce, addOnce } from '../repository/add-once.ts'
import { type AgentFile, agentFile } from './agent-file.ts'
import type { InitInput } from './input.ts'
import { refuseSameObject } from './same-object.ts'

export type InitOutcome =
  /** The files have errors, which an event has reported. Nothing was committed. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /** The file, if only its text was requested. */
  | { readonly kind: 'text'; readonly text: string }
  | (AddedOnce & {
      /** Path of the file from the root of the repository. */
      readonly path: string
      /** Branch of the pull request, if one should be created. */
      readonly requestBranch?: string
      /** Pull request, if its branch now has the file. */
      readonly request?: OpenedRequest
      /** Further steps that the controller needs, as text. */
      readonly toDo: readonly string[]
    })

/**
 * Commits the objects with which a controller syncs an environment, unless they exist. Throws a UserError if the input
 * is incomplete, or if the commit cannot be made.
 */
export async function initGitops(world: LocalContext<PublishEvent>, input: InitInput): Promise<InitOutcome> {
  const { workspace, signal, on } = world
  const wanted = await agentFile(world, input)
  if ('diagnostics' in wanted) return { kind: 'refused', diagnostics: wanted.diagnostics }
  if ('text' in wanted) return { kind: 'text', text: wanted.text }
  const { address, branch, path, textFor, message, project, toDo } = wanted
  if (input.isTextOnly && branch !== undefined) return { kind: 'text', text: textFor(branch) }
  const hasRequest = input.pullRequest || project.environment?.publish.pullRequest
  const requestBranch = hasRequest ? wanted.requestBranch : undefined
  let text = ''
  const added = await addOnce(
    {
      address,
      ...(branch !== undefined && { branch }),
      ...(requestBranch !== undefined && { request: requestBranch }),
    },
    {
      path,
      text: branch => (text = textFor(branch)),
      message,
      option: '--into',
      ...(!input.isTextOnly && { refuseOthers: refuseSameObject }),
    },
    {
      env: workspace.env,
      signal,
      dryRun: Boolean(input.dryRun || input.isTextOnly),
      tell: fetchedEvents(on, address),
    },
  )
  if (added.kind === 'pushed') {
    const { branch, commit, retries } = added.pushed
    on({ type: 'pushed', branch: requestBranch ?? branch, commit, retries })
  }
  if (input.isTextOnly) return { kind: 'text', text }
  const request = requestBranch === undefined ? undefined : await requestFor(world, input, wanted, added, requestBranch)
  return { ...added, path, toDo, ...(requestBranch !== undefined && { requestBranch }), ...(request && { request }) }
}

/** Returns the pull request for a branch that has the file; undefined for a branch without the file. */
async function requestFor(
  world: LocalContext<PublishEvent>,
  { forge }: InitInput,
  { address, message, project: { environment } }: AgentFile,
  added: AddedOnce,
  head: string,
): Promise<OpenedRequest | undefined> {
  if (added.kind !== 'pushed' && added.kind !== 'requested') return undefined
  const base = added.kind === 'pushed' ? added.pushed.branch : added.branch
  const [title, ...paragraphs] = message.trimEnd().split('\n\n') as [string, ...string[]] // a text has a first line
  return openRequest(world, { address, forge, environment }, { head, base, title, body: `${paragraphs[0]}\n` })
}
