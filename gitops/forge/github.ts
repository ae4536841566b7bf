import type { ForgeApi } from './api-request.ts'
import { clampBody } from './clamp-body.ts'
import { ForgeError } from './failures.ts'
import type { NewRequest, PullRequest, PullRequests } from './forge.ts'
import { attempt, openOnce, reads } from './open-once.ts'
import { type Pull, pullCalls } from './pull-calls.ts'

/** With the repositories of its branches; that of a fork may be gone. */
interface ListedPull extends Pull {
  readonly head: { readonly ref: string; readonly repo: { readonly id: number } | null }
  readonly base: { readonly ref: string; readonly repo: { readonly id: number } }
}

/** Headers of every call: https://docs.github.com/rest/about-the-rest-api/api-versions */
export const githubHeaders = (token: string) => ({
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
  authorization: `Bearer ${token}`,
})

/** Pull requests on GitHub and GitHub Enterprise. */
export function githubRequests(api: ForgeApi): PullRequests {
  const pulls = pullCalls(api)
  const owner = api.site.path.split('/')[0]!

  const requests: PullRequests = {
    async find({ head, base }, { signal } = {}) {
      const query = new URLSearchParams({ state: 'open', head: `${owner}:${head}`, base, per_page: '100' })
      const purpose = 'look for the pull request'
      const { items } = await api.list<ListedPull>({
        method: 'GET',
        path: `${pulls.root}/pulls?${query}`,
        purpose,
        mayRepeat: true,
        signal,
      })
      // A filter that GitHub does not understand is none.
      const found = items.find(
        pull => pull.head.ref === head && pull.base.ref === base && pull.head.repo?.id === pull.base.repo.id,
      )
      return found && toRequest(found)
    },

    open: (request, waiting = {}) =>
      openOnce(api, requests, request, waiting, {
        create: notes => create(request, notes, waiting.signal),
        complete: async ({ number }, notes) => {
          notes.push(...(await label(number, request.labels ?? [], waiting.signal)))
          notes.push(...(await pulls.askForReview(number, request.reviewers ?? [], waiting.signal)))
        },
      }),

    async update(request, { title, body }, { signal } = {}) {
      const text = { title, body: clampBody(body, 'github') }
      if (reads(request, text)) return request
      return toRequest(await pulls.update(request.number, text, signal))
    },

    close: pulls.close,
  }
  return requests

  async function create(request: NewRequest, notes: string[], signal: AbortSignal | undefined): Promise<PullRequest> {
    const { head, base, title, draft = false } = request
    const fields = { title, head, base, body: clampBody(request.body, 'github') }
    const post = (isDraft: boolean) => pulls.create({ ...fields, ...(isDraft && { draft: true }) }, signal)
    const made = await post(draft).catch(error => {
      // Private repositories of some plans have none.
      if (!draft || !(error instanceof ForgeError) || !/draft pull requests are not supported/i.test(error.said))
        throw error
      notes.push('the repository has no drafts: the pull request is none')
      return post(false)
    })
    return toRequest(made)
  }

  async function label(number: number, labels: readonly string[], signal: AbortSignal | undefined) {
    if (labels.length === 0) return []
    const path = `${pulls.root}/issues/${number}/labels`
    const purpose = `label pull request ${number}`
    return attempt('the labels could not be set', () =>
      api.send({ method: 'POST', path, body: { labels }, purpose, mayRepeat: true, signal }),
    )
  }
}

function toRequest({ number, html_url: url, title, body, draft = false }: Pull): PullRequest {
  return { number, url, title, body: body ?? '', isDraft: draft }
}
