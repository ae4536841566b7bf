import type { ForgeApi } from './api-request.ts'
import { clampBody } from './clamp-body.ts'
import type { NewRequest, PullRequest, PullRequests } from './forge.ts'
import { attempt, openOnce, reads } from './open-once.ts'

/** The fields of https://docs.gitea.com/api/ (`PullRequest`) that are read; Forgejo has the same. */
interface Pull {
  readonly number: number
  readonly html_url: string
  readonly title: string
  readonly body: string | null
  readonly draft?: boolean
  readonly head: { readonly ref: string; readonly repo_id: number }
  readonly base: { readonly ref: string; readonly repo_id: number }
}

interface Label {
  readonly id: number
  readonly name: string
}

/** https://docs.gitea.com/development/api-usage */
export const giteaHeaders = (token: string) => ({ authorization: `token ${token}` })

/** A draft is one by its title; these are the prefixes of a server that nobody has set others for. */
const DRAFT = /^\s*(\[wip\]|wip:)\s*/i
/** The most that a server gives at once, where nobody has changed it. */
const PAGE = 50

/** Pull requests on Gitea and Forgejo. */
export function giteaRequests(api: ForgeApi): PullRequests {
  const [owner, name] = api.site.path.split('/').map(encodeURIComponent)
  const root = `/repos/${owner}/${name}`

  const requests: PullRequests = {
    // The call for a base and a head takes no base with a slash in it, and may give a request that is closed; older servers do not filter.
    async find({ head, base }, { signal } = {}) {
      const isOurs = (pull: Pull) =>
        pull.head.ref === head && pull.base.ref === base && pull.head.repo_id === pull.base.repo_id
      const found = await findIn<Pull>(
        `${root}/pulls?state=open&sort=recentupdate`,
        isOurs,
        'look for the pull request',
        signal,
      )
      return found && toRequest(found)
    },

    open: (request, waiting = {}) =>
      openOnce(api, requests, request, waiting, {
        create: notes => create(request, notes, waiting.signal),
        complete: async ({ number }, notes) => {
          notes.push(...(await askForReview(number, request.reviewers ?? [], waiting.signal)))
        },
      }),

    async update(request, { title, body }, { signal } = {}) {
      const text = { title, body: clampBody(body, 'gitea') }
      if (reads(request, text)) return request
      const path = `${root}/pulls/${request.number}`
      const purpose = `update pull request ${request.number}`
      const fields = { title: request.isDraft ? `WIP: ${title}` : title, body: text.body }
      return toRequest(
        await api.object<Pull>({ method: 'PATCH', path, body: fields, purpose, mayRepeat: true, signal }),
      )
    },

    async close({ number }, comment, { signal } = {}) {
      const purpose = `close pull request ${number}`
      const path = `${root}/pulls/${number}`
      await api.send({ method: 'PATCH', path, body: { state: 'closed' }, purpose, mayRepeat: true, signal })
      return attempt('the comment could not be written', () =>
        api.send({
          method: 'POST',
          path: `${root}/issues/${number}/comments`,
          body: { body: clampBody(comment, 'gitea') },
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
    const ids = await idsOf(request.labels ?? [], notes, signal)
    const made = await api.object<Pull>({
      method: 'POST',
      path: `${root}/pulls`,
      body: {
        head,
        base,
        title: draft ? `WIP: ${title}` : title,
        body: clampBody(request.body, 'gitea'),
        ...(ids.length > 0 && { labels: ids }),
      },
      purpose: 'open a pull request',
      mayRepeat: false,
      signal,
    })
    return toRequest(made)
  }

  /** Labels are numbers, those of the repository or of its organization. A name that none has is told. */
  async function idsOf(names: readonly string[], notes: string[], signal: AbortSignal | undefined) {
    const ids: number[] = []
    for (const wanted of names) {
      const isIt = (label: Label) => label.name === wanted
      const purpose = `look up the label ${wanted}`
      const lookUp = async () => {
        // A user has no labels: 404.
        const inOrganization = () =>
          findIn<Label>(`/orgs/${owner}/labels?`, isIt, purpose, signal).catch(() => undefined)
        const label = (await findIn<Label>(`${root}/labels?`, isIt, purpose, signal)) ?? (await inOrganization())
        if (label) ids.push(label.id)
        else notes.push(`the label \`${wanted}\` is not known`)
      }
      notes.push(...(await attempt(`the label \`${wanted}\` could not be looked up`, lookUp)))
    }
    return ids
  }

  async function askForReview(number: number, names: readonly string[], signal: AbortSignal | undefined) {
    if (names.length === 0) return []
    const path = `${root}/pulls/${number}/requested_reviewers`
    const purpose = `ask for reviews of pull request ${number}`
    const body = {
      reviewers: names.filter(one => !one.includes('/')),
      team_reviewers: names.filter(one => one.includes('/')).map(one => one.split('/').at(-1)),
    }
    return attempt('the reviewers could not be asked', () =>
      api.send({ method: 'POST', path, body, purpose, mayRepeat: true, signal }),
    )
  }

  /** The first of a list that fits, page by page. */
  async function findIn<T>(path: string, fits: (one: T) => boolean, purpose: string, signal: AbortSignal | undefined) {
    for (let number = 1; ; number++) {
      const paged = `${path}&page=${number}&limit=${PAGE}`.replace('?&', '?')
      const { items, hasMore } = await api.list<T>({
        method: 'GET',
        path: paged,
        purpose,
        mayRepeat: true,
        signal,
      })
      const found = items.find(fits)
      if (found || !hasMore || items.length === 0) return found
    }
  }
}

function toRequest({ number, html_url: url, title, body, draft }: Pull): PullRequest {
  // Servers before 1.22 do not tell of drafts.
  const isDraft = draft ?? DRAFT.test(title)
  return { number, url, title: isDraft ? title.replace(DRAFT, '') : title, body: body ?? '', isDraft }
}
