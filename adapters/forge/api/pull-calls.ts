import type { PullRequests } from '../forge.ts'
import type { Calls } from '../forge-module.ts'
import type { Pull } from './answers.schema.ts'
import { pull } from './answers.validators.ts'
import { commentOnce } from './comment-once.ts'
import { attempt } from './open-once.ts'

/**
 * Returns the calls that are identical on GitHub and Gitea: https://docs.github.com/rest/pulls,
 * https://docs.gitea.com/api/. The caller decides which fields to send. The calls throw as `Calls` do, and return notes
 * for failures that a publish does not depend on.
 */
export function pullCalls(api: Calls) {
  const root = `/repos/${api.site.path.split('/').map(encodeURIComponent).join('/')}`

  /** Creates a request. Never repeated, because that could create a second request. */
  const create = (fields: object, signal: AbortSignal | undefined): Promise<Pull> => {
    const purpose = 'open a pull request'
    const path = `${root}/pulls`
    return api.object({ method: 'POST', path, body: fields, purpose, mayRepeat: false, signal }, pull)
  }

  const update = (number: number, fields: object, signal: AbortSignal | undefined): Promise<Pull> => {
    const path = `${root}/pulls/${number}`
    const purpose = `update pull request ${number}`
    return api.object({ method: 'PATCH', path, body: fields, purpose, mayRepeat: true, signal }, pull)
  }

  const close: PullRequests['close'] = async ({ number }, comment, { signal } = {}) => {
    const purpose = `close pull request ${number}`
    const path = `${root}/pulls/${number}`
    await api.send({ method: 'PATCH', path, body: { state: 'closed' }, purpose, mayRepeat: true, signal })
    return attempt('the comment could not be written', () =>
      api.send({
        method: 'POST',
        path: `${root}/issues/${number}/comments`,
        body: { body: comment },
        purpose: `comment on pull request ${number}`,
        mayRepeat: false,
        signal,
      }),
    )
  }

  const askForReview = async (number: number, names: readonly string[], signal: AbortSignal | undefined) => {
    if (names.length === 0) return []
    const path = `${root}/pulls/${number}/requested_reviewers`
    const purpose = `ask for reviews of pull request ${number}`
    const body = {
      reviewers: names.filter(name => !name.includes('/')),
      // GitHub expects only the team's slug: https://docs.github.com/rest/pulls/review-requests
      team_reviewers: names.filter(name => name.includes('/')).map(name => name.split('/').at(-1)),
    }
    return attempt('the reviewers could not be asked', () =>
      api.send({ method: 'POST', path, body, purpose, mayRepeat: true, signal }),
    )
  }

  // Both forges treat a request as an issue, too.
  const comment: PullRequests['comment'] = (number, what, { signal } = {}) =>
    commentOnce(
      api,
      {
        all: `${root}/issues/${number}/comments`,
        one: id => `${root}/issues/comments/${id}`,
        change: 'PATCH',
        request: `pull request ${number}`,
      },
      what,
      signal,
    )

  return { root, create, update, close, comment, askForReview }
}
