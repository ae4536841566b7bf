import { parseRepositoryAddress } from './address.ts'
import type { ForgeKind } from './forge.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** A repository on a forge. */
export interface Site {
  readonly kind: ForgeKind
  /** The root of its pages, without a slash at the end: `https://gitlab.example.com`, `https://example.com/gitlab`. */
  readonly web: string
  /** The root of its API, without a slash at the end: `https://api.github.com`. */
  readonly api: string
  /** `owner/name`; groups of GitLab may have subgroups. */
  readonly path: string
  /** Where the forge that the continuous integration runs on is this very one. */
  readonly isOurs: boolean
}

/**
 * The forge that an address belongs to: the one that the continuous integration names in its variables, one that is known by its host, or
 * the `forge` that the user says. Undefined for a local folder, and for a host of which none of this tells.
 */
export function siteOf(repository: string, env: Env, forge?: ForgeKind): Site | undefined {
  const address = parseRepositoryAddress(repository)
  if (!address) return undefined
  for (const server of serversOf(env)) {
    const isThere = address.web ? address.web.host === server.web.host : server.hosts.includes(address.host)
    if (!isThere || (forge !== undefined && forge !== server.kind)) continue
    // A server below a path: the address of a clone has it, that of ssh has not.
    const below = `${server.web.pathname.replace(/^\/|\/$/g, '')}/`
    const path = address.web && address.path.startsWith(below) ? address.path.slice(below.length) : address.path
    return site(server.kind, rootOf(server.web), server.api ?? apiOf(server.kind, server.web), path, true)
  }
  const kind = forge ?? kindOf(address.host)
  const web = address.web ?? new URL(`https://${address.host}`)
  return kind && site(kind, rootOf(web), apiOf(kind, web), address.path, false)
}

function site(kind: ForgeKind, web: string, api: string, path: string, isOurs: boolean): Site | undefined {
  const parts = path.split('/').length
  // Only groups of GitLab have groups in them.
  return parts === 2 || (kind === 'gitlab' && parts > 2) ? { kind, web, api, path, isOurs } : undefined
}

/** Hosts of the public forges, and of those that are named after their software. */
function kindOf(host: string): ForgeKind | undefined {
  if (host === 'github.com' || host.endsWith('.ghe.com') || host.startsWith('github.')) return 'github'
  if (host.startsWith('gitlab.')) return 'gitlab'
  if (host === 'codeberg.org' || host.startsWith('gitea.') || host.startsWith('forgejo.')) return 'gitea'
  return undefined
}

/**
 * GitHub: https://docs.github.com/rest/enterprise-admin (`HOST/api/v3`), https://docs.github.com/enterprise-cloud@latest/admin/data-residency
 * (`api.SUBDOMAIN.ghe.com`). GitLab: https://docs.gitlab.com/api/rest/. Gitea: https://docs.gitea.com/development/api-usage.
 */
function apiOf(kind: ForgeKind, web: URL): string {
  if (kind === 'gitlab') return `${rootOf(web)}/api/v4`
  if (kind === 'gitea') return `${rootOf(web)}/api/v1`
  const isHosted = web.hostname === 'github.com' || web.hostname.endsWith('.ghe.com')
  return isHosted ? `https://api.${web.hostname}` : `${rootOf(web)}/api/v3`
}

interface Server {
  readonly kind: ForgeKind
  readonly web: URL
  /** Names that repositories of it have in addresses for ssh. */
  readonly hosts: readonly string[]
  readonly api: string | undefined
}

/** The forges that the variables of continuous integration name. */
function serversOf(env: Env): readonly Server[] {
  const gitea = env.FORGEJO_SERVER_URL || env.GITEA_SERVER_URL
  // Gitea and Forgejo run the workflows of GitHub, with its variables: their API tells who it is.
  const isGitea =
    env.GITEA_ACTIONS === 'true' || env.FORGEJO_ACTIONS === 'true' || /\/api\/v1\/?$/.test(env.GITHUB_API_URL ?? '')
  return [
    server('gitea', gitea, undefined),
    server(isGitea ? 'gitea' : 'github', env.GITHUB_SERVER_URL, env.GITHUB_API_URL),
    server('gitlab', env.CI_SERVER_URL, env.CI_API_V4_URL, env.CI_SERVER_SHELL_SSH_HOST),
  ].flatMap(found => found ?? [])
}

function server(kind: ForgeKind, web: string | undefined, api: string | undefined, ssh?: string): Server | undefined {
  const apiRoot = api && URL.canParse(api) ? new URL(api) : undefined
  const root = web && URL.canParse(web) ? new URL(web) : apiRoot && new URL(apiRoot.origin)
  if (!root) return undefined
  return {
    kind,
    web: root,
    hosts: [root.hostname, ...(ssh ? [ssh.toLowerCase()] : [])],
    api: apiRoot && rootOf(apiRoot),
  }
}

const rootOf = (url: URL): string => `${url.origin}${url.pathname}`.replace(/\/+$/, '')
