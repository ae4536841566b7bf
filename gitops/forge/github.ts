import type { ForgeApi } from './api-request.ts'
import { clampBody } from './clamp-body.ts'
import { ForgeError } from './failures.ts'
import type { NewRequest, PullRequest, PullRequests } from './forge.ts'
import { attempt, openOnce, reads } from './open-once.ts'

/** The fields of https://docs.github.com/rest/pulls/pulls that are read. */
interface Pull {
  readonly number: number
  readonly html_url: string
  readonly title: string
  readonly body: string | null
  readonly draft?: boolean
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
  const root = `/repos/${api.site.path.split('/').map(encodeURIComponent).join('/')}`
  const owner = api.site.path.split('/')[0]!

  const requests: PullRequests = {
    async find({ head, base }, { signal } = {}) {
      const query = new URLSearchParams({ state: 'open', head: `${owner}:${head}`, base, per_page: '100' })
      const purpose = 'look for the pull request'
      const { items } = await api.list<Pull>({
        method: 'GET',
        path: `${root}/pulls?${query}`,
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
          notes.push(...(await askForReview(number, request.reviewers ?? [], waiting.signal)))
        },
      }),

    async update(request, { title, body }, { signal } = {}) {
      const text = { title, body: clampBody(body, 'github') }
      if (reads(request, text)) return request
      const path = `${root}/pulls/${request.number}`
      const purpose = `update pull request ${request.number}`
      return toRequest(await api.object<Pull>({ method: 'PATCH', path, body: text, purpose, mayRepeat: true, signal }))
    },

    async close({ number }, comment, { signal } = {}) {
      const purpose = `close pull request ${number}`
      const path = `${root}/pulls/${number}`
      await api.send({ method: 'PATCH', path, body: { state: 'closed' }, purpose, mayRepeat: true, signal })
      return attempt('the comment could not be written', () =>
        api.send({
          method: 'POST',
          path: `${root}/issues/${number}/comments`,
          body: { body: clampBody(comment, 'github') },
          purpose: `comment on pull request ${number}`,
          mayRepeat: false,
          signal,
        }),
      )
    },
  }
  return requests

  async function create(request: NewRequest, notes: string[], signal: AbortSignal | undefined): Promise<PullRequest> {
    const { head, base, title, draft = false } = request
    const post = (isDraft: boolean) =>
      api.object<Pull>({
        method: 'POST',
        path: `${root}/pulls`,
        body: { title, head, base, body: clampBody(request.body, 'github'), ...(isDraft && { draft: true }) },
        purpose: 'open a pull request',
        mayRepeat: false,
        signal,
      })
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
    const path = `${root}/issues/${number}/labels`
    const purpose = `label pull request ${number}`
    return attempt('the labels could not be set', () =>
      api.send({ method: 'POST', path, body: { labels }, purpose, mayRepeat: true, signal }),
    )
  }

  async function askForReview(number: number, names: readonly string[], signal: AbortSignal | undefined) {
    if (names.length === 0) return []
    const path = `${root}/pulls/${number}/requested_reviewers`
    const purpose = `ask for reviews of pull request ${number}`
    const body = {
      reviewers: names.filter(name => !name.includes('/')),
      // By their slug alone: https://docs.github.com/rest/pulls/review-requests
      team_reviewers: names.filter(name => name.includes('/')).map(name => name.split('/').at(-1)),
    }
    return attempt('the reviewers could not be asked', () =>
      api.send({ method: 'POST', path, body, purpose, mayRepeat: true, signal }),
    )
  }
}

function toRequest({ number, html_url: url, title, body, draft = false }: Pull): PullRequest {
  return { number, url, title, body: body ?? '', isDraft: draft }
}
