import { ForgeApi, type Patience } from './api-request.ts'
import { FORGE_NAMES, type Forge, type ForgeKind, type PullRequests } from './forge.ts'
import { giteaHeaders, giteaRequests } from './gitea.ts'
import { githubHeaders, githubRequests } from './github.ts'
import { gitlabHeaders, gitlabRequests } from './gitlab.ts'
import { type Env, type Site, siteOf } from './site.ts'
import { tokenFor } from './token.ts'

export interface ForgeOptions {
  /** `--forge`, for a host whose name does not tell. */
  readonly forge?: ForgeKind
  /** How long it is tried, and who is told of pauses (`onPause`). */
  readonly patience?: Partial<Patience>
  /** An option of the command line names the repository: its forge may have the user's token. */
  readonly isNamedByUser?: true | undefined
}

/**
 * The forge that a repository address (https, ssh, `git@host:owner/name.git`) belongs to; undefined for a folder of this machine and for a
 * host that nothing is known of. Reads tokens and proxies from `env` and asks nobody.
 */
export function forgeOf(repository: string, env: Env, options: ForgeOptions = {}): Forge | undefined {
  const { forge, patience, isNamedByUser } = options
  const site = siteOf(repository, env, forge)
  if (!site) return undefined
  const found = tokenFor(site, env, isNamedByUser)
  const base = { kind: site.kind, name: FORGE_NAMES[site.kind], ...pagesOf(site) }
  if (found.token === undefined) return { ...base, requests: undefined, withoutToken: found.reason }
  const { connect, headers } = KINDS[site.kind]
  return { ...base, requests: connect(new ForgeApi(site, { ...found, headers: headers(found.token) }, env, patience)) }
}

interface Kind {
  readonly connect: (api: ForgeApi) => PullRequests
  /** How the token is sent. */
  readonly headers: (token: string) => Readonly<Record<string, string>>
}

const KINDS: Readonly<Record<ForgeKind, Kind>> = {
  github: { connect: githubRequests, headers: githubHeaders },
  gitlab: { connect: gitlabRequests, headers: gitlabHeaders },
  gitea: { connect: giteaRequests, headers: giteaHeaders },
}

/**
 * The web pages of a repository. GitHub's and Gitea's form is described at
 * https://docs.github.com/pull-requests/reference/using-query-parameters-to-create-a-pull-request, GitLab's is what it prints after a push.
 */
function pagesOf({ kind, web, path }: Site): Pick<Forge, 'noun' | 'newRequestPage' | 'requestsPage' | 'commitPage'> {
  const root = `${web}/${path.split('/').map(encodeURIComponent).join('/')}`
  if (kind === 'gitlab')
    return {
      noun: 'merge request',
      requestsPage: `${root}/-/merge_requests`,
      commitPage: commit => `${root}/-/commit/${commit}`,
      newRequestPage: ({ head, base, title }) => {
        const fields = { source_branch: head, target_branch: base, title }
        const query = Object.entries(fields).map(([key, value]) => [`merge_request[${key}]`, value] as [string, string])
        return `${root}/-/merge_requests/new?${new URLSearchParams(query)}`
      },
    }
  const branch = (name: string) => name.split('/').map(encodeURIComponent).join('/')
  return {
    noun: 'pull request',
    requestsPage: `${root}/pulls`,
    commitPage: commit => `${root}/commit/${commit}`,
    newRequestPage: ({ head, base, title }) =>
      `${root}/compare/${branch(base)}...${branch(head)}?${new URLSearchParams({ quick_pull: '1', title })}`,
  }
}
