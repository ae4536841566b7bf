import { HOOK_FORGES, type HookForge } from './previews/webhook-signature.ts'

/**
 * A server with repositories. The platform contacts only servers that its operators name. Otherwise, users could make
 * the platform contact addresses that they cannot reach themselves.
 */
export interface ForgeServer {
  /** Kind of forge. If absent, the user who adds a repository chooses it. */
  readonly kind?: HookForge
  /** URL of the server's home page, without a trailing slash. */
  readonly url: string
  /** Base URL of the server's API, if it differs from the default. */
  readonly api?: string
}

/** Public servers, which need no setting. */
const PUBLIC: readonly ForgeServer[] = [
  { kind: 'github', url: 'https://github.com' },
  { kind: 'gitlab', url: 'https://gitlab.com' },
  { kind: 'gitea', url: 'https://codeberg.org' },
]

/** A repository on a server that the platform may contact. */
export interface ServedRepository {
  readonly kind: HookForge
  readonly web: string
  readonly api?: string
  /** Path, such as `owner/name`, with groups in between if the server has them. */
  readonly path: string
}

/**
 * Returns the servers that the platform may contact: first the servers in the settings, then the servers that users and
 * jobs log in with, because the platform contacts these servers anyway, and last the public servers.
 */
export const forgeServers = (named: readonly ForgeServer[], logins: readonly ForgeServer[]): readonly ForgeServer[] => [
  ...[...named, ...logins].map(({ url, ...rest }) => ({ ...rest, url: rootOf(url) })),
  ...PUBLIC,
]

/**
 * Returns the repository at a URL, with the addresses of its server. If the repository cannot be used, returns the
 * reason as a clause.
 */
export function servedRepository(
  address: string,
  servers: readonly ForgeServer[],
  kind: HookForge | undefined,
): { readonly ok: true; readonly repository: ServedRepository } | { readonly ok: false; readonly problem: string } {
  const wanted = hrefOf(address)
  const above = servers.filter(({ url }) => wanted.startsWith(`${url}/`))
  // The address of a server may begin with the address of another one.
  const longest = Math.max(...above.map(({ url }) => url.length))
  const on = above.filter(({ url }) => url.length === longest)
  if (on.length === 0) return { ok: false, problem: 'the platform does not contact its server' }
  const server = on.find(one => one.kind !== undefined && (kind === undefined || one.kind === kind)) ?? on[0]!
  const found = server.kind ?? kind
  if (found === undefined) return { ok: false, problem: 'the kind of its server is not configured' }
  if (kind !== undefined && found !== kind) return { ok: false, problem: `its server is a \`${found}\` server` }
  const path = wanted
    .slice(server.url.length + 1)
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
  const parts = path.split('/').length
  if (parts < 2 || (parts > 2 && found !== 'gitlab'))
    return { ok: false, problem: `\`${path}\` is not the path of a repository there` }
  return {
    ok: true,
    repository: { kind: found, web: server.url, ...(server.api !== undefined && { api: server.api }), path },
  }
}

/**
 * True if a value is a valid server of the settings. The URLs of a server use HTTPS; only the URL of the API may use
 * HTTP, if it is on this machine.
 */
export function isForgeServer(value: unknown): value is ForgeServer {
  const { kind, url, api, ...rest } = (value ?? {}) as Readonly<Record<string, unknown>>
  const isKind = kind === undefined || HOOK_FORGES.some(one => one === kind)
  return isKind && isRoot(url) && (api === undefined || isRoot(api, true)) && Object.keys(rest).length === 0
}

function isRoot(value: unknown, isLocalAllowed = false): boolean {
  if (typeof value !== 'string' || !URL.canParse(value) || /[/?#]$/.test(value)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(value)
  const isLocal = isLocalAllowed && protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname)
  return (protocol === 'https:' || isLocal) && username + password + search + hash === ''
}

/** Returns the URL of a server in the form that `hrefOf` returns, but without trailing slashes. */
export const rootOf = (url: string): string => hrefOf(url).replace(/\/+$/, '')

/** Returns a URL with a lower-case host and without the standard port, so that URLs can be compared as texts. */
const hrefOf = (url: string): string => (URL.canParse(url) ? new URL(url).href : url)
