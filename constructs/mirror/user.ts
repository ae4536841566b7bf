import type { ContainerSecurity } from '../../compiler/plan/plan.ts'
import { type Json, mapIn } from './json.ts'
import type { MirrorSettings, User } from './settings.ts'

/**
 * User as whom the agent must write, because this user owns the files that the development container writes: numeric
 * ids, or the unknown user of an image that devctl cannot read. `rootAllowed` is false if the application refuses root.
 */
export type RunsAs =
  | { readonly kind: 'known'; readonly user: User; readonly rootAllowed: boolean }
  | { readonly kind: 'unknown'; readonly rootAllowed: boolean }

/** Returns the user of a container: from the settings, the container, its Pod, or its image, in this order. */
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

/** True if the user of a container has to be determined by an init container in the Pod. */
export const asksForUser = (identity: RunsAs): boolean => identity.kind === 'unknown'

/**
 * Returns a security context for the restricted level of the Pod Security Standards. Without `user`, the container runs
 * as the user of its image.
 */
export function restricted(user?: User): ContainerSecurity {
  return {
    ...(user && { runAsUser: user.uid, ...(user.gid !== undefined && { runAsGroup: user.gid }) }),
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

/** Returns a security context for root with the given capabilities, all of which the baseline level allows. */
const rootWith = (...add: readonly string[]): ContainerSecurity => ({
  runAsUser: 0,
  runAsNonRoot: false,
  allowPrivilegeEscalation: false,
  capabilities: { add, drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
})

/** The user `nobody`, for containers that write only to in-memory volumes. */
export const NOBODY: User = { uid: 65534, gid: 65534 }

/**
 * Returns the agent's security context. If the user is unknown, the agent starts as root and drops to the user that the
 * Pod reports. If root is refused, it starts as nobody, and another Pod replaces it when the user is known.
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

/** True if the agent starts as root and drops to the user that the Pod reports. */
export const agentDrops = (identity: RunsAs): boolean => identity.kind === 'unknown' && identity.rootAllowed

/** True if root is refused and the agent only waits for another Pod in which its user is known. */
export const agentWaits = (identity: RunsAs): boolean => identity.kind === 'unknown' && !identity.rootAllowed

/**
 * Returns the security context of the container that fills the volume. The container runs as the user who will write to
 * the volume. If this is root, the container preserves the owners of files.
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
 * Returns the security context of the container that creates the folders of the volume. The container runs as root if
 * the user is unknown or the container has to chown the volume first, and otherwise as the user.
 */
export function placesSecurity(identity: RunsAs, needsOwner: boolean): ContainerSecurity {
  if (identity.kind === 'unknown' || needsOwner || identity.user.uid === 0)
    return rootWith('CHOWN', 'DAC_OVERRIDE', 'FOWNER')
  return restricted(identity.user)
}
