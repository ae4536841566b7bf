import type { Service } from '../../compose/project.ts'
import type { PlanContext } from '../context.ts'
import { userOf } from '../pod/image-user.ts'
import type { StoredMount } from './stored-mount.ts'

/** True if a mount is the claim of a host folder and the service can write to it. */
export const isWritableFolder = ({ held, readOnly }: StoredMount): boolean =>
  held.kind === 'claim' && held.isFolder === true && !readOnly

/**
 * Returns a function that is true for a mount of a host folder to which services with different users write. A
 * directory has only one owner, so the other users need a further permission to write to it.
 */
export function findSharedFolders(
  context: PlanContext,
  services: readonly Service[],
  mountsOf: (service: Service) => readonly StoredMount[],
): (mount: StoredMount) => boolean {
  const users = new Map<string, Set<string>>()
  for (const service of services) {
    const found = userOf(context, service)
    // A name may mean different users in two images.
    const user =
      found && (/^\d+$/.test(found.user) ? found.user : `${service.image?.value ?? service.name} ${found.user}`)
    for (const mount of user === undefined ? [] : mountsOf(service).filter(isWritableFolder)) {
      const key = keyOf(mount)
      users.set(key, (users.get(key) ?? new Set()).add(user!))
    }
  }
  return mount => (users.get(keyOf(mount))?.size ?? 0) > 1
}

const keyOf = ({ held }: StoredMount): string =>
  held.kind === 'claim' ? [held.claim, held.directory, held.subPath].join('/') : ''
