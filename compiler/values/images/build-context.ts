import { failed, type Parsed, parsed } from '../parsed.ts'

/**
 * Source of the files of a build: a folder, or an address that the builder fetches (the URL of a repository or archive,
 * `docker-image://REFERENCE`).
 */
export type ContextSource = { readonly folder: string } | { readonly remote: string }

/** A context source, or the image of another service. */
export type BuildContext = (ContextSource & { readonly service?: never }) | { readonly service: string }

const FETCHED = /^(?:https?:\/\/|git:\/\/|ssh:\/\/|github\.com\/|git@)/

/** True for a context that is not a path on this machine. Only paths are resolved. */
export const isNoPath = (text: string): boolean =>
  text.includes('://') || FETCHED.test(text) || text.startsWith('service:')

/** Parses the main context of a build: a folder, or the URL of a repository or archive. */
export function parseContext(text: string): Parsed<ContextSource> {
  const hint = 'write a folder, or the URL of a repository or archive'
  if (text.startsWith('service:'))
    return failed('the image of a service cannot be the main context', 'list it under `additional_contexts`')
  if (text.startsWith('docker-image://'))
    return failed('an image cannot be the main context', 'list it under `additional_contexts`')
  if (FETCHED.test(text)) return parsed({ remote: text })
  return isNoPath(text) ? failed('it is not a URL that a builder can fetch', hint) : parsed({ folder: text })
}

/** Parses an additional context, which may also be an image or the image of a service. */
export function parseNamedContext(text: string): Parsed<BuildContext> {
  const hint = 'write a folder, a URL, `docker-image://IMAGE` or `service:NAME`'
  if (text === '') return failed('it is empty', hint)
  if (text.startsWith('service:')) return parsed({ service: text.slice('service:'.length) })
  if (text.startsWith('docker-image://') || FETCHED.test(text)) return parsed({ remote: text })
  return isNoPath(text) ? failed('it is not a context that a builder can use', hint) : parsed({ folder: text })
}

/** Removes the user name and password from a URL. */
export const withoutLogin = (address: string): string => address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')

const REPOSITORY = /^(?:(?:git|ssh):\/\/|git@|github\.com\/|https?:\/\/[^?#]*\.git(?=[?#]|$))/
const COMMIT = /#(?:[0-9a-f]{40}|[0-9a-f]{64})(?:$|:)/

/**
 * Returns true if the content at an address may change: at a branch or tag of a repository, or at an archive. Returns
 * false for a repository address with a full commit id, which always has the same content. Also returns false for
 * images, which, like base images, are identified by their references.
 */
export const mayMove = (address: string): boolean =>
  !address.startsWith('docker-image://') && !(REPOSITORY.test(address) && COMMIT.test(address))

/** Replaces the logins in a text's URLs with `***`. In addresses such as `ssh://user@`, replaces only a password. */
export const maskLogins = (text: string): string =>
  text
    .replaceAll(/(https?:\/\/)[^\s/'"<>]{1,1000}@/gi, '$1***@')
    .replaceAll(/(:\/\/[^\s/@:'"<>]{0,200}):[^\s/'"<>]{1,1000}@/g, '$1:***@')
