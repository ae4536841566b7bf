import { parseJson, type Validator } from '../json/parse-json.ts'
import type { Pull } from './api/answers.schema.ts'
import { giteaLabels, giteaPulls, giteaRefusal, giteaVersion } from './api/answers.validators.ts'
import { attempt, hasText, openOnce } from './api/open-once.ts'
import { pullCalls } from './api/pull-calls.ts'
import { pullFactsOf } from './api/pull-facts.ts'
import { pullPages } from './api/pull-pages.ts'
import { webhooksAt } from './api/webhooks.ts'
import type { NewRequest, PullRequest, PullRequests } from './forge.ts'
import type { Calls, ForgeCall, ForgeModule, ForgeVariables } from './forge-module.ts'
import { isGiteaWorkflow, WORKFLOW_TOKEN, workflowRepository, workflowServer } from './workflow.ts'

/** Title prefixes that mark a request as a draft, unless the server's administrator has changed them. */
const DRAFT = /^\s*(\[wip\]|wip:)\s*/i
/** Maximum number of items per page that a server returns, unless its administrator has changed the limit. */
const PAGE = 50

const NAMES = ['GITEA_TOKEN', 'FORGEJO_TOKEN']

const serverOf = (env: ForgeVariables): string | undefined => env.FORGEJO_SERVER_URL || env.GITEA_SERVER_URL

/** Module for Gitea and Forgejo, which have the same API: https://docs.gitea.com/development/api-usage */
export const gitea: ForgeModule<'gitea'> = {
  kind: 'gitea',
  name: 'Gitea',
  noun: 'pull request',
  isHost: host => host === 'codeberg.org' || host.startsWith('gitea.') || host.startsWith('forgejo.'),
  hasSubgroups: false,
  apiOf: root => `${root}/api/v1`,
  question: {
    path: '/api/v1/version',
    // A server that requires a login responds with an error that links the description of its API.
    isIt: ({ status, text }) => (status === 200 ? parseJson(text, giteaVersion) : parseJson(text, giteaRefusal)).ok,
  },
  serverVariables: ['GITEA_SERVER_URL', 'FORGEJO_SERVER_URL'],
  serversIn: env => [{ web: serverOf(env) }, ...(isGiteaWorkflow(env) ? [workflowServer(env)] : [])],
  tokens: {
    names: NAMES,
    namesFor({ isOurs }, env) {
      if (isOurs) return [...NAMES, WORKFLOW_TOKEN]
      return serverOf(env) ? [] : NAMES
    },
    knownOrigins: () => [],
    repositoryOf: workflowRepository,
  },
  headers: token => ({ authorization: `token ${token}` }),
  permissionHint: () => 'the token needs the permissions `write:repository` and `write:issue`',
  // The database column holds 4 GB, but the request size is limited.
  bodyLimit: 1_000_000,
  pages: pullPages,
  connect: giteaRequests,
  webhookEvents: 'pull request, pull request synchronized',
  webhooks: api =>
    webhooksAt(api, {
      path: `${pullCalls(api).root}/hooks`,
      body: ({ address: url, secret }) => ({
        type: 'gitea',
        active: true,
        // `pull_request` would include reviews, labels and comments.
        events: ['pull_request_only', 'pull_request_sync'],
        config: { url, content_type: 'json', secret },
      }),
      permission: 'the token needs the permission `write:repository`, of an administrator of the repository',
    }),
  facts: pullFactsOf,
}

function giteaRequests(api: Calls): PullRequests {
  const pulls = pullCalls(api)
  const owner = encodeURIComponent(api.site.path.split('/')[0]!)

  const requests: PullRequests = {
    // The call for a base and a head accepts no base with a slash, and may return a closed request; older servers do
    // not filter.
    async find({ head, base }, { signal } = {}) {
      const path = `${pulls.root}/pulls?state=open&sort=recentupdate`
      const found = await findIn(
        { path, purpose: 'look for the pull request', signal },
        giteaPulls,
        pull => pull.head.ref === head && pull.base.ref === base && pull.head.repo_id === pull.base.repo_id,
      )
      return found && toRequest(found)
    },

    open: (request, waiting = {}) =>
      openOnce(api, requests, request, waiting, {
        create: notes => create(request, notes, waiting.signal),
        exists: /already exists/i,
        complete: async ({ number }, notes) => {
          notes.push(...(await pulls.askForReview(number, request.reviewers ?? [], waiting.signal)))
        },
      }),

    async update(request, { title, body }, { signal } = {}) {
      if (hasText(request, { title, body })) return request
      const fields = { body, title: titleOf(title, request.isDraft) }
      return toRequest(await pulls.update(request.number, fields, signal))
    },

    close: pulls.close,
    comment: pulls.comment,
  }
  return requests

  async function create(request: NewRequest, notes: string[], signal: AbortSignal | undefined): Promise<PullRequest> {
    const { head, base, title, body, draft = false } = request
    const ids = await idsOf(request.labels ?? [], notes, signal)
    const fields = { head, base, title: titleOf(title, draft), body }
    return toRequest(await pulls.create({ ...fields, ...(ids.length > 0 && { labels: ids }) }, signal))
  }

  /**
   * Returns the numbers of the labels with the given names, which belong to the repository or to its organization. Adds
   * a note to `notes` for each label that is not found or cannot be looked up.
   */
  async function idsOf(names: readonly string[], notes: string[], signal: AbortSignal | undefined) {
    const ids: number[] = []
    for (const wanted of names) {
      const labelIn = (path: string) =>
        findIn({ path, purpose: `look up the label ${wanted}`, signal }, giteaLabels, label => label.name === wanted)
      const lookUp = async () => {
        // A user has no labels: the server responds 404.
        const inOrganization = () => labelIn(`/orgs/${owner}/labels?`).catch(() => undefined)
        const label = (await labelIn(`${pulls.root}/labels?`)) ?? (await inOrganization())
        if (label) ids.push(label.id)
        else notes.push(`the label \`${wanted}\` is not known`)
      }
      notes.push(...(await attempt(`the label \`${wanted}\` could not be looked up`, lookUp)))
    }
    return ids
  }

  /** Searches a list page by page, and returns the first matching item; undefined if there is none. */
  async function findIn<T>(
    { path, purpose, signal }: Pick<ForgeCall, 'path' | 'purpose' | 'signal'>,
    validate: Validator<readonly T[]>,
    fits: (one: T) => boolean,
  ): Promise<T | undefined> {
    let read = 0
    for (let number = 1; ; number++) {
      const paged = `${path}&page=${number}&limit=${PAGE}`.replace('?&', '?')
      const call = { method: 'GET', path: paged, purpose, mayRepeat: true, signal } as const
      const { items, hasMore, total } = await api.list(call, validate)
      const found = items.find(fits)
      read += items.length
      // Lists of labels have no `Link`, but the total number.
      if (found || items.length === 0 || !(hasMore || read < total)) return found
    }
  }
}

const titleOf = (title: string, isDraft: boolean): string => (isDraft ? `WIP: ${title}` : title)

function toRequest({ number, html_url: url, title, body, draft }: Pull): PullRequest {
  // Servers before 1.22 do not report drafts.
  const isDraft = draft ?? DRAFT.test(title)
  return { number, url, title: isDraft ? title.replace(DRAFT, '') : title, body: body ?? '', isDraft }
}
