import { ALL_FORGES } from './forges.ts'

/** The location of a repository, as far as its address states it. */
export interface RepositoryAddress {
  /** Host name in lower case, without a port: `github.com`. */
  readonly host: string
  /**
   * The root of the web server, where the address is one of the web:
   * `https://git.example.com:8443`.
   */
  readonly web: URL | undefined
  /** `owner/name`, or more parts where groups have subgroups; without `.git`. */
  readonly path: string
}

/**
 * Reads the address of a repository as git does (https://git-scm.com/docs/git-clone#_git_urls):
 * `https://host/owner/name.git`, `ssh://git@host:22/owner/name`, `git@host:owner/name.git`.
 * Undefined for a folder of this machine and for what has no owner and name. A user or password in
 * the address is not kept.
 */
export function parseRepositoryAddress(text: string): RepositoryAddress | undefined {
  const address = text.trim()
  if (address.includes('://')) return parseUrl(address)
  // A folder: a slash before the first colon, or the letter of a drive.
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

/**
 * The host that an ssh server at port 443 belongs to (`sshOverHttps`); any other host is its own.
 */
const hostOf = (name: string): string =>
  ALL_FORGES.flatMap(forge => forge.sshOverHttps ?? []).find(one => one.name === name)?.host ?? name

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
  return { host: hostOf(host), web, path: parts.join('/') }
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
