/** A requested or granted access to a registry: https://distribution.github.io/distribution/spec/auth/scope/ */
export interface RegistryAccess {
  readonly type: string
  readonly name: string
  readonly actions: readonly string[]
}

/** Path of the images that every user may pull and administrators push. No namespace can have this name. */
export const SHARED = 'shared'

/**
 * A caller's role for the images of one namespace. `full`: the caller could push if the images of the namespace's owner
 * did not use up the owner's share of the disk.
 */
export type RegistryRelation = 'pusher' | 'full' | 'puller' | 'stranger'

const ACTIONS: Readonly<Record<RegistryRelation, readonly string[]>> = {
  pusher: ['pull', 'push', 'delete'],
  // A member who could push if the owner's share of the disk were not used up.
  full: ['pull', 'delete'],
  puller: ['pull'],
  stranger: [],
}

/** Maximum number of scopes in one request. A push that mounts layers of other images needs several scopes. */
const SCOPES = 20
const LONGEST = 400
/**
 * Patterns of one component of a repository path, and of an entire path. A text that does not match `REPOSITORY` names
 * no repository.
 */
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const REPOSITORY = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`)
const SCOPE = /^([a-z]{1,20})(?:\([a-z]{1,20}\))?:([^:\s]+):([a-z*]+(?:,[a-z*]+)*)$/

/**
 * Parses the scopes of a token request. Each text can contain several scopes, separated by spaces. Returns undefined if
 * there are too many scopes, or one is invalid.
 */
export function parseScopes(texts: readonly string[]): readonly RegistryAccess[] | undefined {
  const all = texts.flatMap(text => text.split(' ')).filter(text => text !== '')
  if (all.length > SCOPES || all.some(text => text.length > LONGEST)) return undefined
  const found = all.flatMap(text => {
    const [, type, name, actions] = SCOPE.exec(text) ?? []
    return type !== undefined && name !== undefined && actions !== undefined
      ? [{ type, name, actions: [...new Set(actions.split(','))] }]
      : []
  })
  return found.length === all.length ? found : undefined
}

/**
 * Splits the address of a registry into its host and a prefix: the path below which the platform's images are, such as
 * `team/`. The prefix is an empty string if the address has no path.
 */
export function splitRegistry(registry: string): { readonly host: string; readonly prefix: string } {
  const [host = '', ...path] = registry.split('/')
  return { host, prefix: path.map(part => `${part}/`).join('') }
}

/** Number of hexadecimal digits of the UID at the end of a namespace's registry path. */
const DIGITS = 8
/** Regular expression for the path of any namespace, including deleted ones. */
export const ANY_PLACE = `[a-z0-9-]+-[0-9a-f]{${DIGITS}}`
const PLACE = new RegExp(`^([a-z0-9-]+)-[0-9a-f]{${DIGITS}}$`)

/**
 * Returns the path of a namespace's images, such as `shop-1f2e3d4c`. A later namespace of the same name has a different
 * path, so it has no access to the images of the earlier one, and does not trust them.
 */
export const placeFor = ({ name, uid }: { readonly name: string; readonly uid: string }): string =>
  `${name}-${uid.slice(0, DIGITS)}`

/**
 * Returns the name of the namespace that a path belongs to, even if the namespace was deleted. Returns undefined if no
 * namespace can have this path.
 */
export const namespaceIn = (place: string): string | undefined => PLACE.exec(place)?.[1]

/**
 * Returns the first part of a repository's name, which is the path of a namespace or `shared`. Returns undefined if the
 * name does not begin with the platform's prefix, or if no image name follows.
 */
export function placeOf(repository: string, prefix: string): string | undefined {
  if (!REPOSITORY.test(repository) || !repository.startsWith(prefix)) return undefined
  const [place, ...image] = repository.slice(prefix.length).split('/')
  return image.length > 0 ? place : undefined
}

/** Returns the part of the requested access that is granted; undefined if nothing is. */
export function grantedAccess(wanted: RegistryAccess, relation: RegistryRelation): RegistryAccess | undefined {
  if (wanted.type !== 'repository') return undefined
  const may = ACTIONS[relation]
  const actions = wanted.actions.includes('*') ? may : may.filter(action => wanted.actions.includes(action))
  return actions.length > 0 ? { type: 'repository', name: wanted.name, actions } : undefined
}
