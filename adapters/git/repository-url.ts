import { UserError } from '../../compiler/diagnostics/user-error.ts'

/**
 * `user@host:path`, as git and ssh have it: no scheme, and a colon before the first slash. A letter
 * before it is a drive of Windows.
 */
const SCP_LIKE = /^(?:(?<user>[^@/:\s]+)@)?(?<host>\[[^\]]+\]|[^/:\s]{2,}):(?!\/\/)(?<path>.+)$/

/**
 * The address without what is between its scheme and its host but a user of ssh: it may be a token.
 */
export function withoutCredentials(address: string): string {
  return address.replace(/^(https?:\/\/)[^/?#]*@/i, '$1').replace(/^(ssh:\/\/[^:@/]*):[^/]*@/i, '$1@')
}

const HINT = 'set the URL for the cluster with `--url`: `https://…` or `ssh://…`'

/** The path that a `file://` address names; undefined for one that names none. */
export function filePathIn(address: string): string | undefined {
  try {
    return decodeURIComponent(new URL(address).pathname)
  } catch {
    return undefined
  }
}

/**
 * The address of a repository as the controllers in a cluster take it, without credentials. Flux
 * has no `user@host:path` (https://fluxcd.io/flux/components/source/gitrepositories/#url). Throws a
 * UserError for what no cluster can reach.
 */
export function controllerAddress(address: string): string {
  const clean = withoutCredentials(address)
  if (/^(https?|ssh):\/\/./i.test(clean) && URL.canParse(clean)) return clean
  const { user, host, path: inside } = SCP_LIKE.exec(clean)?.groups ?? {}
  if (host !== undefined && inside !== undefined)
    return `ssh://${user === undefined ? '' : `${user}@`}${host}/${inside.replace(/^\/+/, '')}`
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(clean)?.[0]
  const path = (scheme === 'file://' && filePathIn(clean)) || clean
  if (/^(https?|ssh):/i.test(clean)) throw new UserError(`\`${clean}\` is not a repository URL`, { hint: HINT })
  throw new UserError(
    scheme !== undefined && scheme !== 'file://'
      ? `controllers do not read \`${scheme}\` addresses`
      : `the repository \`${path}\` is a path on this machine, which a controller cannot read`,
    { hint: HINT },
  )
}
