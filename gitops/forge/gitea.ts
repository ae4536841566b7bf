import type { ForgeApi } from './api-request.ts'
import { clampBody } from './clamp-body.ts'
import type { NewRequest, PullRequest, PullRequests } from './forge.ts'
import { attempt, openOnce, reads } from './open-once.ts'
import { type Pull, pullCalls } from './pull-calls.ts'

/** With the repositories of its branches (https://docs.gitea.com/api/, `PullRequest`); Forgejo has the same. */
interface ListedPull extends Pull {
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
  const pulls = pullCalls(api)
  const owner = encodeURIComponent(api.site.path.split('/')[0]!)

  const requests: PullRequests = {
    // The call for a base and a head takes no base with a slash in it, and may give a request that is closed; older servers do not filter.
    async find({ head, base }, { signal } = {}) {
      const isOurs = (pull: ListedPull) =>
        pull.head.ref === head && pull.base.ref === base && pull.head.repo_id === pull.base.repo_id
      const found = await findIn<ListedPull>(
        `${pulls.root}/pulls?state=open&sort=recentupdate`,
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
          notes.push(...(await pulls.askForReview(number, request.reviewers ?? [], waiting.signal)))
        },
      }),

    async update(request, { title, body }, { signal } = {}) {
      const text = { title, body: clampBody(body, 'gitea') }
      if (reads(request, text)) return request
      const fields = { ...text, title: titleOf(title, request.isDraft) }
      return toRequest(await pulls.update(request.number, fields, signal))
    },

    close: pulls.close,
  }
  return requests

  async function create(request: NewRequest, notes: string[], signal: AbortSignal | undefined): Promise<PullRequest> {
    const { head, base, title, draft = false } = request
    const ids = await idsOf(request.labels ?? [], notes, signal)
    const fields = { head, base, title: titleOf(title, draft), body: clampBody(request.body, 'gitea') }
    return toRequest(await pulls.create({ ...fields, ...(ids.length > 0 && { labels: ids }) }, signal))
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
        const label = (await findIn<Label>(`${pulls.root}/labels?`, isIt, purpose, signal)) ?? (await inOrganization())
        if (label) ids.push(label.id)
        else notes.push(`the label \`${wanted}\` is not known`)
      }
      notes.push(...(await attempt(`the label \`${wanted}\` could not be looked up`, lookUp)))
    }
    return ids
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

const titleOf = (title: string, isDraft: boolean): string => (isDraft ? `WIP: ${title}` : title)

function toRequest({ number, html_url: url, title, body, draft }: Pull): PullRequest {
  // Servers before 1.22 do not tell of drafts.
  const isDraft = draft ?? DRAFT.test(title)
  return { number, url, title: isDraft ? title.replace(DRAFT, '') : title, body: body ?? '', isDraft }
}
