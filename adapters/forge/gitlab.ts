import type { MergeRequest } from './api/answers.schema.ts'
import { gitlabUsers, mergeRequest, mergeRequests } from './api/answers.validators.ts'
import { commentOnce } from './api/comment-once.ts'
import { attempt, hasText, openOnce } from './api/open-once.ts'
import { webhooksAt } from './api/webhooks.ts'
import type { NewRequest, PullRequest, PullRequests } from './forge.ts'
import type { Calls, ForgeModule, Pages } from './forge-module.ts'
import { gitlabFacts } from './gitlab-facts.ts'

/** Title prefixes that mark a request as a draft. */
const DRAFT = /^\s*(\[draft\]|\(draft\)|draft:)\s*/i

const NAMES = ['GITLAB_TOKEN']

/** Module for GitLab, both the public server and self-managed ones: https://docs.gitlab.com/api/rest/ */
export const gitlab: ForgeModule<'gitlab'> = {
  kind: 'gitlab',
  name: 'GitLab',
  noun: 'merge request',
  isHost: host => host.startsWith('gitlab.'),
  hasSubgroups: true,
  apiOf: root => `${root}/api/v4`,
  question: {
    path: '/api/v4/version',
    // GitLab answers 401 with its own headers without a token (https://docs.gitlab.com/api/version/).
    isIt: ({ headers }) => Object.keys(headers).some(name => name.startsWith('x-gitlab-')),
  },
  serverVariables: ['CI_SERVER_URL'],
  serversIn: env => [{ web: env.CI_SERVER_URL, api: env.CI_API_V4_URL, ssh: env.CI_SERVER_SHELL_SSH_HOST }],
  tokens: {
    names: NAMES,
    namesFor: ({ isOurs }, env) => (isOurs || !env.CI_SERVER_URL ? NAMES : []),
    knownOrigins: (variable, _, { GITLAB_HOST: host }) =>
      NAMES.includes(variable)
        ? ['https://gitlab.com', ...(host ? [`https://${host.replace(/^https:\/\//, '')}`] : [])]
        : [],
    unfit: { variable: 'CI_JOB_TOKEN', instead: 'a project or group token with the scope `api`' },
  },
  // Works for personal, group and project tokens: https://docs.gitlab.com/api/rest/authentication/
  headers: token => ({ 'private-token': token }),
  permissionHint: () => 'the token needs the scope `api`, and the role Developer in the project',
  // https://docs.gitlab.com/api/merge_requests/ (description)
  bodyLimit: 1_048_576,
  pages: gitlabPages,
  connect: gitlabRequests,
  webhookEvents: 'merge request events',
  // https://docs.gitlab.com/api/project_webhooks/
  webhooks: api =>
    webhooksAt(api, {
      path: `/projects/${encodeURIComponent(api.site.path)}/hooks`,
      body: ({ address: url, secret: token }) => ({
        url,
        token,
        merge_requests_events: true,
        push_events: false,
        enable_ssl_verification: true,
      }),
      permission: 'the token needs the scope `api`, and the role Maintainer in the project',
    }),
  facts: gitlabFacts,
}

/**
 * Returns the addresses of a project's web pages. The address for a new merge request has the form that GitLab prints
 * after a push.
 */
function gitlabPages(root: string): Pages {
  return {
    requestsPage: `${root}/-/merge_requests`,
    commitPage: commit => `${root}/-/commit/${commit}`,
    newRequestPage: ({ head, base, title }) => {
      const fields = { source_branch: head, target_branch: base, title }
      const query = Object.entries(fields).map(([key, value]) => [`merge_request[${key}]`, value] as [string, string])
      return `${root}/-/merge_requests/new?${new URLSearchParams(query)}`
    },
  }
}

function gitlabRequests(api: Calls): PullRequests {
  const root = `/projects/${encodeURIComponent(api.site.path)}`

  const requests: PullRequests = {
    async find({ head, base }, { signal } = {}) {
      const query = new URLSearchParams({ state: 'opened', source_branch: head, target_branch: base, per_page: '100' })
      const purpose = 'look for the merge request'
      const path = `${root}/merge_requests?${query}`
      const { items } = await api.list({ method: 'GET', path, purpose, mayRepeat: true, signal }, mergeRequests)
      // Branches of forks may have the same name.
      const found = items.find(one => one.source_project_id === one.target_project_id)
      return found && toRequest(found)
    },

    open: (request, waiting = {}) =>
      openOnce(api, requests, request, waiting, {
        create: notes => create(request, notes, waiting.signal),
        exists: /already exists/i,
      }),

    async update(request, { title, body }, { signal } = {}) {
      if (hasText(request, { title, body })) return request
      const path = `${root}/merge_requests/${request.number}`
      const purpose = `update merge request ${request.number}`
      const fields = { title: request.isDraft ? `Draft: ${title}` : title, description: body }
      const call = { method: 'PUT', path, body: fields, purpose, mayRepeat: true, signal } as const
      return toRequest(await api.object(call, mergeRequest))
    },

    async close({ number }, comment, { signal } = {}) {
      const path = `${root}/merge_requests/${number}`
      const purpose = `close merge request ${number}`
      await api.send({ method: 'PUT', path, body: { state_event: 'close' }, purpose, mayRepeat: true, signal })
      return attempt('the comment could not be written', () =>
        api.send({
          method: 'POST',
          path: `${path}/notes`,
          body: { body: comment },
          purpose: `comment on merge request ${number}`,
          mayRepeat: false,
          signal,
        }),
      )
    },

    // https://docs.gitlab.com/api/notes/#merge-requests
    comment: (number, what, { signal } = {}) => {
      const all = `${root}/merge_requests/${number}/notes`
      const paths = {
        all,
        one: (id: number) => `${all}/${id}`,
        change: 'PUT',
        request: `merge request ${number}`,
      } as const
      return commentOnce(api, paths, what, signal)
    },
  }
  return requests

  async function create(request: NewRequest, notes: string[], signal: AbortSignal | undefined): Promise<PullRequest> {
    const { head, base, title, labels = [], draft = false } = request
    const ids = await idsOf(request.reviewers ?? [], notes, signal)
    const call = {
      method: 'POST',
      path: `${root}/merge_requests`,
      body: {
        source_branch: head,
        target_branch: base,
        title: draft ? `Draft: ${title}` : title,
        description: request.body,
        ...(labels.length > 0 && { labels: labels.join(',') }),
        ...(ids.length > 0 && { reviewer_ids: ids }),
      },
      purpose: 'open a merge request',
      mayRepeat: false,
      signal,
    } as const
    return toRequest(await api.object(call, mergeRequest))
  }

  /**
   * Returns the user ids of the reviewers with the given names, because GitLab expects ids. Adds a note to `notes` for
   * each reviewer who is not found or cannot be looked up.
   */
  async function idsOf(names: readonly string[], notes: string[], signal: AbortSignal | undefined) {
    const ids: number[] = []
    for (const name of names) {
      const path = `/users?${new URLSearchParams({ username: name })}`
      const purpose = `look up the user ${name}`
      const lookUp = async () => {
        const { items } = await api.list({ method: 'GET', path, purpose, mayRepeat: true, signal }, gitlabUsers)
        if (items[0]) ids.push(items[0].id)
        else notes.push(`the reviewer \`${name}\` is not known`)
      }
      notes.push(...(await attempt(`the reviewer \`${name}\` could not be looked up`, lookUp)))
    }
    return ids
  }
}

function toRequest({ iid, web_url: url, title, description, draft }: MergeRequest): PullRequest {
  // Servers before 13.2 do not report drafts.
  const isDraft = draft ?? DRAFT.test(title)
  return { number: iid, url, title: isDraft ? title.replace(DRAFT, '') : title, body: description ?? '', isDraft }
}
