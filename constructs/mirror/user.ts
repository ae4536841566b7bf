import type { ContainerSecurity } from '../../compiler/plan/plan.ts'
import { type Json, mapIn } from './json.ts'
import type { MirrorSettings, User } from './settings.ts'

/**
 * User who owns the files that the development container writes, so the agent must write as the same user: numeric ids,
 * or the user of an image that devctl cannot read. Root is refused if the application refuses it.
 */
export type RunsAs =
  | { readonly kind: 'known'; readonly user: User; readonly rootAllowed: boolean }
  | { readonly kind: 'unknown'; readonly rootAllowed: boolean }

/** The user of a container: of the settings, of the container, of its Pod, of the image. */
export function identityOf(
  pod: Json,
  container: Json,
  settings: Pick<MirrorSettings, 'security'>,
  imageUser: User | undefined,
): RunsAs {
  const contexts: readonly Json[] = [
    { ...settings.security },
    mapIn(container, 'securityContext'),
    mapIn(pod, 'securityContext'),
  ]
  const find = <T>(field: string) => contexts.find(one => one[field] !== undefined)?.[field] as T | undefined // typed by the API
  const uid = find<number>('runAsUser')
  const gid = find<number>('runAsGroup')
  const rootAllowed = find<boolean>('runAsNonRoot') !== true
  if (uid !== undefined) return { kind: 'known', user: { uid, ...(gid !== undefined && { gid }) }, rootAllowed }
  if (imageUser === undefined) return { kind: 'unknown', rootAllowed }
  return { kind: 'known', user: { ...imageUser, ...(gid !== undefined && { gid }) }, rootAllowed }
}

/** True if the user of a container is found out in the Pod, by an init container. */
export const asksForUser = (identity: RunsAs): boolean => identity.kind === 'unknown'

/** The restricted level of the Pod Security Standards; without a user, that of the image. */
export function restricted(user?: User): ContainerSecurity {
  return {
    ...(user && { runAsUser: user.uid, ...(user.gid !== undefined && { runAsGroup: user.gid }) }),
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

/** Root with some capabilities, all of which the baseline level allows. */
const rootWith = (...add: readonly string[]): ContainerSecurity => ({
  runAsUser: 0,
  runAsNonRoot: false,
  allowPrivilegeEscalation: false,
  capabilities: { add, drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
})

/** The user `nobody`, for containers that only write to volumes in memory. */
export const NOBODY: User = { uid: 65534, gid: 65534 }

/**
 * Returns the agent's security context. If the user is unknown, the agent starts as root and drops to the user that the
 * Pod reports; if root is refused, it starts as nobody, and is restarted once more when the user is known.
 */
export function agentSecurity(identity: RunsAs): ContainerSecurity {
  const readOnly = { readOnlyRootFilesystem: true }
  if (identity.kind === 'unknown')
    return identity.rootAllowed
      ? { ...rootWith('SETUID', 'SETGID'), ...readOnly }
      : { ...restricted(NOBODY), ...readOnly }
  const { user } = identity
  return {
    ...(user.uid === 0 ? { ...rootWith('CHOWN', 'DAC_OVERRIDE', 'FOWNER'), ...group(user) } : restricted(user)),
    ...readOnly,
  }
}

const group = ({ gid }: User) => (gid === undefined ? {} : { runAsGroup: gid })

/** True if the agent starts as root and drops to the user that was found out. */
export const agentDrops = (identity: RunsAs): boolean => identity.kind === 'unknown' && identity.rootAllowed

/** True if the agent only waits for another Pod, in which its user is known: root is refused. */
export const agentWaits = (identity: RunsAs): boolean => identity.kind === 'unknown' && !identity.rootAllowed

/**
 * Returns the security context of the container that fills the volume. It runs as the user who will write to the
 * volume; as root it keeps the owners.
 */
export function fillSecurity(identity: RunsAs): {
  readonly rootless: boolean
  readonly security?: ContainerSecurity
} {
  if (identity.kind === 'unknown')
    return identity.rootAllowed ? { rootless: true } : { rootless: true, security: restricted() }
  const { user } = identity
  return user.uid === 0 ? { rootless: false } : { rootless: true, security: restricted(user) }
}

/**
 * Returns the security context of the container that creates the folders of the volume. It runs as the user, unless the
 * user is unknown or it has to chown the volume first.
 */
export function placesSecurity(identity: RunsAs, needsOwner: boolean): ContainerSecurity {
  if (identity.kind === 'unknown' || needsOwner || identity.user.uid === 0)
    return rootWith('CHOWN', 'DAC_OVERRIDE', 'FOWNER')
  return restricted(identity.user)
}
