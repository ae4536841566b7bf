import { barredAt } from '../../records/user.ts'
import { mayDo } from '../../rules/accounts/roles.ts'
import {
  grantedAccess,
  namespaceIn,
  placeFor,
  placeOf,
  type RegistryAccess,
  type RegistryRelation,
  SHARED,
  splitRegistry,
} from '../../rules/registry/registry-access.ts'
import type { Identified } from '../http/caller.ts'
import type { Users } from '../login/users.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'
import { roleIn } from '../namespaces/shared-namespace.ts'
import type { RegistryCaller } from './registry-logins.ts'
import type { RegistryUsage } from './registry-usage.ts'

interface Parts {
  readonly namespaces: Pick<Namespaces, 'find'>
  readonly users: Pick<Users, 'find'>
  readonly registryUsage: Pick<RegistryUsage, 'full'>
}

/** Returns the part of the requested access that a caller is granted. The registry denies the rest. */
export async function accessFor(
  caller: RegistryCaller,
  wanted: readonly RegistryAccess[],
  registry: string,
  parts: Parts,
): Promise<readonly RegistryAccess[]> {
  const { prefix } = splitRegistry(registry)
  const relations = new Map<string, Promise<RegistryRelation>>()
  const relationTo = (place: string) => {
    const known = relations.get(place) ?? relationOf(caller, place, parts)
    relations.set(place, known)
    return known
  }
  const granted = await Promise.all(
    wanted.map(async one => {
      const place = one.type === 'repository' ? placeOf(one.name, prefix) : undefined
      return place === undefined ? undefined : grantedAccess(one, await relationTo(place))
    }),
  )
  return granted.flatMap(one => one ?? [])
}

/** Returns the registry paths of the namespaces from which the caller may pull images. */
export async function pullPlaces(
  { user, token }: Identified,
  namespaces: Pick<Namespaces, 'visible'>,
): Promise<readonly string[]> {
  const all = await namespaces.visible(user)
  return all.flatMap(shared => {
    const { name, uid } = shared.namespace
    const isMeant = uid !== undefined && token.namespaces?.includes(name) !== false
    return isMeant && mayDo({ platform: user.role, namespace: roleIn(shared, user) }, 'pull')
      ? placeFor({ name, uid })
      : []
  })
}

async function relationOf(
  caller: RegistryCaller,
  place: string,
  { namespaces, users, registryUsage }: Parts,
): Promise<RegistryRelation> {
  if (place === SHARED) return caller.kind === 'person' && maySharePush(caller.by) ? 'pusher' : 'puller'
  const name = namespaceIn(place)
  if (name === undefined || (caller.kind !== 'person' && caller.namespace.name !== name)) return 'stranger'
  if (caller.kind !== 'pods' && caller.by.token.namespaces?.includes(name) === false) return 'stranger'
  const shared = await namespaces.find(name)
  const { uid } = shared?.namespace ?? {}
  // Images of an earlier namespace of this name do not belong to any user.
  if (!shared || uid === undefined || placeFor({ name, uid }) !== place) return 'stranger'
  if (caller.kind !== 'person' && uid !== caller.namespace.uid) return 'stranger'
  if (caller.kind === 'pods') {
    if (caller.pullLogins !== shared.namespace.pullLogins) return 'stranger'
    // Suspended or refused members may have kept these credentials.
    const members = await Promise.all(shared.members.map(({ user }) => users.find(user)))
    return members.some(one => one && (barredAt(one) ?? -1) >= caller.made) ? 'stranger' : 'puller'
  }
  const { user } = caller.by
  const relation = { platform: user.role, namespace: roleIn(shared, user) }
  if (mayDo(relation, 'deploy')) return (await registryUsage.full(shared.namespace)) ? 'full' : 'pusher'
  return mayDo(relation, 'pull') ? 'puller' : 'stranger'
}

/**
 * Returns true for an administrator whose token is valid for all namespaces. Tokens of runs and CI jobs are excluded,
 * because code of a repository uses them.
 */
const maySharePush = ({ user, token }: Extract<RegistryCaller, { kind: 'person' }>['by']): boolean =>
  user.role === 'admin' && token.kind !== 'run' && token.kind !== 'ci' && token.namespaces === undefined
