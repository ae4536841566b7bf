import { join } from 'node:path'
import type { Lock } from '../../project/lock.ts'
import type { PushTarget } from './checkout.ts'
import { type PushOptions, pushTo } from './push.ts'
import { readLock } from './tree/change.ts'

/**
 * The lock of an application's folder in a repository; undefined where nothing was published there.
 * Throws a UserError where the repository cannot be read.
 */
export async function readPublished(target: PushTarget, path: string, options: PushOptions): Promise<Lock | undefined> {
  const result = await pushTo<Lock | undefined>(
    target,
    { write: async ({ folder }) => ({ done: readLock(join(folder, path), path) }) },
    options,
  )
  return 'done' in result ? result.done : undefined
}
