import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type Facts, LOCK_NAME, parseLock } from '../../project/lock.ts'
import type { WorkingCopy } from './checkout.ts'
import type { PublishedFolder } from './published-folder.ts'

/**
 * Throws a UserError if another folder of the repository contains an object of ours for the same namespace, because the
 * controllers of the two folders would overwrite the object forever. Compares the lock files of a checkout. Ignores
 * locks of other environments, because those may be for other clusters.
 */
export async function refuseSameObjects(checkout: WorkingCopy, folders: readonly PublishedFolder[]): Promise<void> {
  const facts = folders[0]?.output.facts
  if (facts?.namespace === undefined) return
  const ours = new Set(facts.objects)
  for (const path of await foldersWithLock(checkout)) {
    if (folders.some(folder => folder.path === path)) continue
    const other = factsAt(checkout, path)
    if (other?.namespace !== facts.namespace || isElsewhere(other, facts)) continue
    const both = other.objects.filter(object => ours.has(object))
    if (both.length === 0) continue
    const more = both.length > 5 ? ` and ${both.length - 5} more` : ''
    throw new UserError(`\`${path}\` contains the same objects for the namespace \`${facts.namespace}\``, {
      notes: [`${both.slice(0, 5).join(', ')}${more}`],
      hint: 'use another namespace for one of the applications; if this one has moved, remove the old folder from the repository',
    })
  }
}

/**
 * True if two applications belong to different environments, and may therefore be on different clusters. False if one
 * of them has no environment, because it may be on any cluster.
 */
const isElsewhere = (one: Facts, other: Facts) =>
  one.environment !== undefined && other.environment !== undefined && one.environment !== other.environment

function factsAt({ folder }: WorkingCopy, path: string): Facts | undefined {
  const file = join(folder, path, LOCK_NAME)
  try {
    return parseLock(readFileSync(file, 'utf8'), `${path}/${LOCK_NAME}`).facts
  } catch {
    // A damaged lock in another application's folder is not reported here.
    return undefined
  }
}

async function foldersWithLock({ git }: WorkingCopy): Promise<readonly string[]> {
  const found = await git.run('ls-files', '-z', '--', `:(glob)**/${LOCK_NAME}`)
  const files = found.split('\0').filter(path => path !== '')
  return files.map(path => path.slice(0, -LOCK_NAME.length - 1) || '.')
}
