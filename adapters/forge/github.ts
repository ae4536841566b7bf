import type { Pull } from './api/answers.schema.ts'
import { githubPulls } from './api/answers.validators.ts'
import { ForgeError } from './api/failures.ts'
import { attempt, hasText, openOnce } from './api/open-once.ts'
import { pullCalls } from './api/pull-calls.ts'
import { pullFactsOf } from './api/pull-facts.ts'
import { pullPages } from './api/pull-pages.ts'
import { webhooksAt } from './api/webhooks.ts'
import type { NewRequest, PullRequest, PullRequests } from './forge.ts'
import type { Calls, ForgeModule } from './forge-module.ts'
import { isGiteaWorkflow, WORKFLOW_TOKEN, workflowRepository, workflowServer } from './workflow.ts'

/** Returns true for the public server and for the servers that GitHub hosts for companies. */
const isHosted = (host: string): boolean => host === 'github.com' || host.endsWith('.ghe.com')

/**
 * Variables with tokens: `NAMES` for github.com, `ENTERPRISE` for other servers. Tokens for github.com are not sent to
 * other servers; GitHub's own CLI does the same.
 */
const NAMES = [WORKFLOW_TOKEN, 'GH_TOKEN']
const ENTERPRISE = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN']

/** Module for GitHub and GitHub Enterprise. */
export const github: ForgeModule<'github'> = {
  kind: 'github',
  name: 'GitHub',
  noun: 'pull request',
  isHost: host => isHosted(host) || host.startsWith('github.'),
  hasSubgroups: false,
  // https://docs.github.com/rest/enterprise-admin,
  // https://docs.github.com/enterprise-cloud@latest/admin/data-residency
  apiOf: root => {
    const { hostname } = new URL(root)
    return isHosted(hostname) ? `https://api.${hostname}` : `${root}/api/v3`
  },
  question: {
    path: '/api/v3/meta',
    // https://docs.github.com/enterprise-server/rest/meta/meta; responds 401 in private mode, with the same headers.
    isIt: ({ headers }) => 'x-github-request-id' in headers || 'x-github-enterprise-version' in headers,
  },
  serverVariables: ['GITHUB_SERVER_URL'],
  serversIn: env => (isGiteaWorkflow(env) ? [] : [workflowServer(env)]),
  tokens: {
    names: NAMES,
    namesFor({ web, isOurs }, env) {
      if (isOurs) return NAMES
      if (!isHosted(new URL(web).hostname)) return ENTERPRISE
      return env.GITHUB_SERVER_URL ? [] : NAMES
    },
    knownOrigins(variable, { web }, env) {
      const { origin, hostname } = new URL(web)
      if (NAMES.includes(variable)) return isHosted(hostname) ? [origin] : []
      return ENTERPRISE.includes(variable) && env.GH_HOST ? [`https://${env.GH_HOST}`] : []
    },
    repositoryOf: workflowRepository,
  },
  // https://docs.github.com/rest/about-the-rest-api/api-versions
  headers: token => ({
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    authorization: `Bearer ${token}`,
  }),
  permissionHint: said =>
    /GitHub Actions is not permitted/i.test(said)
      ? 'enable "Allow GitHub Actions to create and approve pull requests" in the settings of the repository, or use the token of an app'
      : 'the token needs the scope `repo`, or the permission "Pull requests: write" for this repository (`pull-requests: write` in a workflow)',
  refusal: ({ status, headers }, variable) =>
    status === 403 && headers['x-github-sso']
      ? {
          message: `the token of \`${variable}\` is not authorized for the single sign-on of the organization`,
          hint: 'authorize it for the organization, in the settings of your tokens',
        }
      : undefined,
  // Limit that GitHub states when it refuses a longer text.
  bodyLimit: 65_536,
  pages: pullPages,
  connect: githubRequests,
  webhookEvents: 'pull requests',
  // https://docs.github.com/rest/repos/webhooks
  webhooks: api =>
    webhooksAt(api, {
      path: `${pullCalls(api).root}/hooks`,
      body: ({ address: url, secret }) => ({
        name: 'web',
        active: true,
        events: ['pull_request'],
        config: { url, content_type: 'json', secret, insecure_ssl: '0' },
      }),
      permission:
        'the token needs the scope `admin:repo_hook`, or the permission "Webhooks: write", of an administrator of the repository',
    }),
  facts: pullFactsOf,
}

function githubRequests(api: Calls): PullRequests {
  const pulls = pullCalls(api)
  const owner = api.site.path.split('/')[0]!

  const requests: PullRequests = {
    async find({ head, base }, { signal } = {}) {
      const query = new URLSearchParams({ state: 'open', head: `${owner}:${head}`, base, per_page: '100' })
      const purpose = 'look for the pull request'
      const path = `${pulls.root}/pulls?${query}`
      const { items } = await api.list({ method: 'GET', path, purpose, mayRepeat: true, signal }, githubPulls)
      // GitHub ignores filters that it does not understand.
      const found = items.find(
        pull => pull.head.ref === head && pull.base.ref === base && pull.head.repo?.id === pull.base.repo.id,
      )
      return found && toRequest(found)
    },

    open: (request, waiting = {}) =>
      openOnce(api, requests, request, waiting, {
        create: notes => create(request, notes, waiting.signal),
        exists: /already exists/i,
        complete: async ({ number }, notes) => {
          notes.push(...(await label(number, request.labels ?? [], waiting.signal)))
          notes.push(...(await pulls.askForReview(number, request.reviewers ?? [], waiting.signal)))
        },
      }),

    async update(request, { title, body }, { signal } = {}) {
      if (hasText(request, { title, body })) return request
      return toRequest(await pulls.update(request.number, { title, body }, signal))
    },

    close: pulls.close,
    comment: pulls.comment,
  }
  return requests

  async function create(request: NewRequest, notes: string[], signal: AbortSignal | undefined): Promise<PullRequest> {
    const { head, base, title, body, draft = false } = request
    const fields = { title, head, base, body }
    const post = (isDraft: boolean) => pulls.create({ ...fields, ...(isDraft && { draft: true }) }, signal)
    const made = await post(draft).catch(error => {
      // Some plans have no drafts in private repositories.
      if (!draft || !(error instanceof ForgeError) || !/draft pull requests are not supported/i.test(error.said))
        throw error
      notes.push('the repository does not support drafts: the pull request is an ordinary one')
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
