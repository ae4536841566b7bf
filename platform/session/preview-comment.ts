import { findForge } from '../../adapters/forge/ask-kind.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { PreviewDetails } from '../api/previews.ts'
import { commentMarker, commentText } from '../rules/previews/preview-comment.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Pull or merge request that gets the comment. */
export interface CommentPlace {
  readonly repository: string
  readonly number: number
}

/**
 * Returns the pull or merge request whose page is `sourceUrl`. Without a `sourceUrl`, returns the request of the
 * current CI job. Throws a UsageError if there is no such request.
 */
export function commentPlace(repository: string, sourceUrl: string | undefined, env: Env): CommentPlace {
  const [, root, page] =
    /^(https:\/\/.+?)(?:\/-)?\/(?:pull|pulls|merge_requests)\/([1-9]\d{0,9})(?:[/?#]|$)/.exec(sourceUrl ?? '') ?? []
  // A branch of a fork is looked up in the repository that it will be merged into.
  if (root !== undefined && page !== undefined) return { repository: root, number: Number(page) }
  const ofJob =
    /^refs\/pull\/([1-9]\d{0,9})\//.exec(env.GITHUB_REF ?? '')?.[1] ??
    /^[1-9]\d{0,9}$/.exec(env.CI_MERGE_REQUEST_IID ?? '')?.[0]
  if (sourceUrl === undefined && ofJob !== undefined) return { repository, number: Number(ofJob) }
  throw new UsageError('which pull request is the comment for?', {
    hint: 'name its page with `--source-url https://…`, or run the command in a job for a pull or merge request',
  })
}

/**
 * Writes the comment of a preview, or replaces the text of its existing comment. Throws a UserError if the forge
 * refuses the comment or does not answer.
 */
export type CommentPreview = (
  preview: PreviewDetails,
  page: string,
  signal: AbortSignal,
  said?: string,
) => Promise<void>

/**
 * Returns the function that writes the comment. Throws a UserError if the forge is unknown or no token is available.
 * Does not send the token yet. If the server is unknown, asks it for its kind of forge.
 */
export async function previewComment(
  { repository, number }: CommentPlace,
  env: Env,
  signal: AbortSignal,
): Promise<CommentPreview> {
  const forge = await findForge(repository, env, {}, signal)
  if (!forge)
    throw new UserError(`nothing can comment on ${repository}: its server is not a known forge, or does not answer`, {
      hint: 'comments work on GitHub, GitLab, Gitea and Forgejo',
    })
  const { requests } = forge
  if (!requests)
    throw new UserError(`nothing can comment on ${repository}: ${forge.withoutToken}`, {
      hint: 'set `DEVCTL_FORGE_TOKEN` to a token that may comment there',
    })
  return async (preview, page, signal, said) => {
    const comment = { marker: commentMarker(preview.name), body: commentText(preview, page, said) }
    await requests.comment(number, comment, { signal })
  }
}
