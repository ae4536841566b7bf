/** What somebody wants to do in a registry, or may: https://distribution.github.io/distribution/spec/auth/scope/ */
export interface RegistryAccess {
  readonly type: string
  readonly name: string
  readonly actions: readonly string[]
}

/** Images that all people may use, and administrators push. No namespace is called so. */
export const SHARED = 'shared'

/** What somebody is to the images of one place. */
export type RegistryRelation = 'pusher' | 'full' | 'puller' | 'stranger'

const ACTIONS: Readonly<Record<RegistryRelation, readonly string[]>> = {
  pusher: ['pull', 'push', 'delete'],
  // A pusher whose share of the disk is used up.
  full: ['pull', 'delete'],
  puller: ['pull'],
  stranger: [],
}

/** Scopes of one request: a push that takes layers from other images has some. */
const SCOPES = 20
const LONGEST = 400
/** A path as registries have it; what is not one leads nowhere. */
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const REPOSITORY = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`)
const SCOPE = /^([a-z]{1,20})(?:\([a-z]{1,20}\))?:([^:\s]+):([a-z*]+(?:,[a-z*]+)*)$/

/**
 * The scopes of a request to a token service, each with spaces between several. Undefined when there are too many, or
 * one is none.
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

/** The host of a registry, and the path below which the images of the platform are: `team/`, or nothing. */
export function splitRegistry(registry: string): { readonly host: string; readonly prefix: string } {
  const [host = '', ...path] = registry.split('/')
  return { host, prefix: path.map(part => `${part}/`).join('') }
}

/** Hexadecimal digits of the uid of a namespace. */
const DIGITS = 8
const PLACE = new RegExp(`^([a-z0-9-]+)-[0-9a-f]{${DIGITS}}$`)

/**
 * The place of the images of a namespace: `shop-1f2e3d4c`. A namespace that is made later by the same name has another
 * one, so that it neither finds the images of the one before nor trusts them.
 */
export const placeFor = ({ name, uid }: { readonly name: string; readonly uid: string }): string =>
  `${name}-${uid.slice(0, DIGITS)}`

/** The name of the namespace that a place is of, or was; undefined: of none. */
export const namespaceIn = (place: string): string | undefined => PLACE.exec(place)?.[1]

/**
 * The place of a repository: that of a namespace, or `shared`. Undefined for what is no place of the platform: something
 * outside of its prefix, or without a name of its own.
 */
export function placeOf(repository: string, prefix: string): string | undefined {
  if (!REPOSITORY.test(repository) || !repository.startsWith(prefix)) return undefined
  const [place, ...image] = repository.slice(prefix.length).split('/')
  return image.length > 0 ? place : undefined
}

/** What of the wanted access somebody gets; undefined: nothing. */
export function grantedAccess(wanted: RegistryAccess, relation: RegistryRelation): RegistryAccess | undefined {
  if (wanted.type !== 'repository') return undefined
  const may = ACTIONS[relation]
  const actions = wanted.actions.includes('*') ? may : may.filter(action => wanted.actions.includes(action))
  return actions.length > 0 ? { type: 'repository', name: wanted.name, actions } : undefined
}
