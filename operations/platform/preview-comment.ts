import { findForge } from '../../adapters/forge/ask-kind.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { PreviewDetails } from '../../platform/api/previews.ts'
import { block, code } from '../gitops/request/markdown.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Where the comment goes. */
export interface CommentPlace {
  readonly repository: string
  readonly number: number
}

/** The pull or merge request of a page, or of the job that this is. Throws a UsageError. */
export function commentPlace(repository: string, sourceUrl: string | undefined, env: Env): CommentPlace {
  const [, root, page] =
    /^(https:\/\/.+?)(?:\/-)?\/(?:pull|pulls|merge_requests)\/([1-9]\d{0,9})(?:[/?#]|$)/.exec(sourceUrl ?? '') ?? []
  // A branch of a fork is asked for where it is to be merged.
  if (root !== undefined && page !== undefined) return { repository: root, number: Number(page) }
  const ofJob =
    /^refs\/pull\/([1-9]\d{0,9})\//.exec(env.GITHUB_REF ?? '')?.[1] ??
    /^[1-9]\d{0,9}$/.exec(env.CI_MERGE_REQUEST_IID ?? '')?.[0]
  if (sourceUrl === undefined && ofJob !== undefined) return { repository, number: Number(ofJob) }
  throw new UsageError('which pull request is the comment for?', {
    hint: 'name its page with `--sourceUrl https://…`, or run the command in a job for a pull or merge request',
  })
}

/** By it the comment of a preview is found again. */
const commentMarker = (name: string): string => `<!-- devctl preview ${name} -->`

const STATES: Readonly<Record<string, string>> = {
  Active: '✅ ready',
  Failed: '❌ failed',
  Deploying: '⏳ being deployed',
}

/**
 * What a preview is at, for who reads a pull request; `said` is the first problem in the words of the deploy. What comes
 * from the code of the branch is shown as text only.
 */
export function commentText(preview: PreviewDetails, page: string, said?: string): string {
  const { name, status, endpoints, problem, run } = preview
  const commit = run?.commit === undefined ? '' : `, commit ${code(run.commit.slice(0, 12))}`
  const addresses = endpoints.map(({ url, services, ready }) => {
    const link = /^https?:\/\/[\w.:/-]+$/.test(url) ? `<${url}>` : code(url)
    return `- ${link} (${services.map(code).join(', ')}${ready ? '' : ', not ready'})`
  })
  const why =
    said?.trimEnd() ??
    (problem ? `${problem.service}: ${problem.message}` : status === 'Failed' ? run?.reason : undefined)
  return [
    `**Preview [${name}](${page})**: ${STATES[status] ?? status}${commit}`,
    ...(addresses.length > 0 ? [addresses.join('\n')] : []),
    ...(why === undefined ? [] : [block('text', why.slice(0, 2000).split('\n'))]),
    '',
  ].join('\n\n')
}

/** Writes the comment of a preview, or gives the own one that is there another text. Throws a UserError. */
export type CommentPreview = (
  preview: PreviewDetails,
  page: string,
  signal: AbortSignal,
  said?: string,
) => Promise<void>

/**
 * What writes the comment. Throws a UserError where there is no token for it. Sends no token yet: a server of which
 * nothing says what kind of forge it is is asked.
 */
export async function previewComment(
  { repository, number }: CommentPlace,
  env: Env,
  signal: AbortSignal,
): Promise<CommentPreview> {
  const forge = await findForge(repository, env, {}, signal)
  if (!forge)
    throw new UserError(
      `nothing can comment on ${repository}: its server is no forge that devctl knows, or does not answer`,
      {
        hint: 'comments work on GitHub, GitLab, Gitea and Forgejo',
      },
    )
  const { requests } = forge
  if (!requests)
    throw new UserError(`nothing can comment on ${repository}: ${forge.withoutToken}`, {
      hint: 'set `DEVCTL_FORGE_TOKEN` to a token that may comment there',
    })
  return (preview, page, signal, said) => {
    const comment = { marker: commentMarker(preview.name), body: commentText(preview, page, said) }
    return requests.comment(number, comment, { signal })
  }
}
