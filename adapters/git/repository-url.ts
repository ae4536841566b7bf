import { UserError } from '../../compiler/diagnostics/user-error.ts'

/**
 * Pattern for `user@host:path`, as git and ssh accept it: no scheme, and a colon before the first slash. A single
 * letter before the colon is a Windows drive.
 */
const SCP_LIKE = /^(?:(?<user>[^@/:\s]+)@)?(?<host>\[[^\]]+\]|[^/:\s]{2,}):(?!\/\/)(?<path>.+)$/

/**
 * Returns the address without credentials. Drops everything between scheme and host, because it may be a token, but
 * keeps the user of an SSH address.
 */
export function withoutCredentials(address: string): string {
  return address.replace(/^(https?:\/\/)[^/?#]*@/i, '$1').replace(/^(ssh:\/\/[^:@/]*):[^/]*@/i, '$1@')
}

const HINT = 'set the URL for the cluster with `--url`: `https://…` or `ssh://…`'

/** Returns the decoded path of a `file://` address; undefined if the address is invalid. */
export function filePathIn(address: string): string | undefined {
  try {
    return decodeURIComponent(new URL(address).pathname)
  } catch {
    return undefined
  }
}

/**
 * Returns the address of a repository in the form that controllers in a cluster accept, without credentials. Flux does
 * not support `user@host:path` (https://fluxcd.io/flux/components/source/gitrepositories/#url). Throws a UserError for
 * an address that no cluster can reach.
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
