/** A repository that a run can clone. */
export interface RepositoryUrl {
  /** URL for git, such as `https://git.example.com/team/shop`. */
  readonly url: string
  /** Host that a credential belongs to, such as `git.example.com`, with a port if it is not the standard one. */
  readonly host: string
  /** Last part of the path, without `.git`, such as `shop`. */
  readonly name: string
}

export type ReadRepositoryUrl =
  | { readonly ok: true; readonly repository: RepositoryUrl }
  | { readonly ok: false; readonly problem: string; readonly hint?: string }

const LONGEST = 1000
/** Pattern of one path segment, without characters that git, ssh or a shell could interpret. */
const PART = /^[\w~][\w.~+@-]*$/
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/

/**
 * Parses the URL of a repository for a run: https or ssh, a host, and a path. Refuses `ext::`, `file:`, options of git,
 * and credentials (design, section 6).
 */
export function readRepositoryUrl(text: string): ReadRepositoryUrl {
  if (text.length > LONGEST) return refused(`it has more than ${LONGEST} characters`)
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(text) ?? []
  const isSsh = scheme.toLowerCase() === 'ssh'
  if (scheme.toLowerCase() === 'http') return refused('it is not encrypted', `write \`https://…\``)
  if (!isSsh && scheme.toLowerCase() !== 'https')
    return refused('it is neither `https://…` nor `ssh://…`', 'write the HTTPS address of the repository')
  const slash = rest.indexOf('/')
  if (slash < 0) return refused('it has no path')
  const [authority, path] = [rest.slice(0, slash), rest.slice(slash + 1)]
  const at = authority.lastIndexOf('@')
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1).toLowerCase()]
  if (user !== '' && !(isSsh && /^[a-z_][\w.-]*$/i.test(user)))
    return refused('it has a user or a password', 'store a credential for the host instead')
  if (!HOST.test(host) || host.includes('..')) return refused('its host is not valid')
  const parts = path.replace(/\/$/, '').split('/')
  const isPath = parts.every(part => PART.test(part) && !/^\.+$/.test(part))
  if (!isPath) return refused('its path is not that of a repository')
  const name = parts.at(-1)?.replace(/\.git$/, '') ?? ''
  if (name === '') return refused('it has no path')
  const who = user === '' ? '' : `${user}@`
  const url = `${isSsh ? 'ssh' : 'https'}://${who}${host}/${parts.join('/')}`
  if (!isHostOf(url, host)) return refused('its host is not valid')
  return { ok: true, repository: { url, host, name } }
}

/**
 * True if URL parsing does not change the host. A host that ends in a number is an IPv4 address in one of several forms
 * (`127.1` is 127.0.0.1), or invalid (https://url.spec.whatwg.org/#concept-host-parser).
 */
function isHostOf(url: string, host: string): boolean {
  if (!URL.canParse(url)) return false
  const seen = new URL(url).host
  return seen === host || `${seen}:443` === host
}

/** True if a credential can be stored for a host, such as `git.example.com`: lower case, with an optional port. */
export const isForgeHost = (text: string): boolean =>
  /^(?=.{1,100}$)[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9]\d{0,4})?$/.test(text)

/**
 * Returns the reason why a text is not a valid branch or tag (`git help check-ref-format`); undefined if it is valid.
 */
export function branchProblem(name: string): string | undefined {
  const isName =
    name.length <= 250 &&
    /^[^\s\p{Cc}\p{Cf}\p{Cs}~^:?*[\\]+$/u.test(name) &&
    !/^[-/.]|[/.]$|\.\.|\/\/|\/\.|@\{|\.lock(\/|$)/.test(name) &&
    name !== '@'
  return isName ? undefined : 'it is not a valid name of a branch'
}

/** Returns the reason why a path cannot refer to a file of the repository; undefined if it can. */
export function filePathProblem(path: string): string | undefined {
  if (path.length > 500 || /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(path)) return 'it is not a valid path'
  if (/^[-/\\]|^[a-z]:/i.test(path)) return 'it is not relative to the repository'
  return path.split(/[/\\]/).includes('..') ? 'it leads out of the repository' : undefined
}

const refused = (problem: string, hint?: string): ReadRepositoryUrl => ({
  ok: false,
  problem,
  ...(hint !== undefined && { hint }),
})
