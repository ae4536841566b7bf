import { join } from 'node:path'
import type { Lock } from '../../project/lock.ts'
import type { PushTarget } from './checkout.ts'
import { type PushOptions, pushTo } from './push.ts'
import { readLock } from './tree/change.ts'

/**
 * Returns the lock of an application's folder in a repository; undefined if nothing was published to the folder. Throws
 * a UserError if the repository cannot be read.
 */
export async function readPublished(target: PushTarget, path: string, options: PushOptions): Promise<Lock | undefined> {
  const result = await pushTo<Lock | undefined>(
    target,
    { write: async ({ folder }) => ({ done: readLock(join(folder, path), path) }) },
    options,
  )
  return 'done' in result ? result.done : undefined
}
