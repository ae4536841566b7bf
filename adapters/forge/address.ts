import { hostOfSsh } from '../git/ssh-over-https.ts'

/** The location of a repository, as far as its address specifies it. */
export interface RepositoryAddress {
  /** Host name in lower case, without a port: `github.com`. */
  readonly host: string
  /** Root of the web server, if the address is a web address: `https://git.example.com:8443`. */
  readonly web: URL | undefined
  /** Path `owner/name`, or more parts where groups have subgroups; without `.git`. */
  readonly path: string
}

/**
 * Parses the address of a repository as git does (https://git-scm.com/docs/git-clone#_git_urls):
 * `https://host/owner/name.git`, `ssh://git@host:22/owner/name`, `git@host:owner/name.git`. Undefined for a local
 * folder and for an address without owner and name. Drops a user or password in the address.
 */
export function parseRepositoryAddress(text: string): RepositoryAddress | undefined {
  const address = text.trim()
  if (address.includes('://')) return parseUrl(address)
  // A local folder has a slash before the first colon, or a drive letter.
  const [, host, path] = /^(?:[^@/:]+@)?(\[[^\]/]+\]|[^:/[\]@]+):(?!\/\/)(.*)$/s.exec(address) ?? []
  if (host === undefined || path === undefined || /^[a-z]$/i.test(host)) return undefined
  return addressOf(host, undefined, path)
}

const WEB = new Set(['https:', 'http:'])
const OTHERS = new Set(['ssh:', 'git+ssh:', 'ssh+git:', 'git:'])

function parseUrl(text: string): RepositoryAddress | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url?.hostname) return undefined
  if (WEB.has(url.protocol)) return addressOf(url.hostname, new URL(`${url.protocol}//${url.host}`), url.pathname)
  return OTHERS.has(url.protocol) ? addressOf(url.hostname, undefined, url.pathname) : undefined
}

function addressOf(name: string, web: URL | undefined, path: string): RepositoryAddress | undefined {
  const host = name.toLowerCase()
  const parts = unescaped(path)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .filter(part => part !== '')
  const isPlain = parts.every(
    part => /^[^\p{Cc}?#%\\]+$/u.test(part) && part !== '.' && part !== '..' && part[0] !== '~',
  )
  if (parts.length < 2 || !isPlain) return undefined
  return { host: hostOfSsh(host), web, path: parts.join('/') }
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
