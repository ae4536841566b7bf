// Compares dist with the sources that it is built from.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const SOURCES = [
  'adapters',
  'agent',
  'api',
  'bin',
  'cli',
  'commands',
  'compiler',
  'constructs',
  'containers',
  'examples',
  'builds',
  'develop',
  'editor',
  'environment',
  'explain',
  'gitops',
  'init',
  'operations',
  'project',
  'platform',
]
  .concat('scripts', 'sync', 'package.json', 'package-lock.json', 'tsconfig.json', 'node_modules/.package-lock.json')
  .map(path => join(root, path))

/**
 * Path of a file that is written when all modules are compiled. The modification time of this file, and of `COMPLETE`,
 * is the time at which the build started.
 */
export const COMPILED = join(root, 'dist/.compiled')
/** Path of a file that is written when all of dist is built. */
export const COMPLETE = join(root, 'dist/.built')

/** Returns true if the part of dist that a stamp file belongs to is newer than all of its sources. */
export function isFresh(stamp) {
  return existsSync(stamp) && Math.max(...SOURCES.map(newest)) < statSync(stamp).mtimeMs
}

/**
 * Returns the time of the last change of a file, or of anything in a folder, in milliseconds since 1970; 0 if the path
 * does not exist. The time of a folder changes when a file in it is deleted.
 */
function newest(path) {
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status?.isDirectory()) return status?.mtimeMs ?? 0
  return Math.max(status.mtimeMs, ...readdirSync(path).map(name => newest(join(path, name))))
}
