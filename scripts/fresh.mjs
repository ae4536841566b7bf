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
  'compiler',
  'constructs',
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

/** Written when all modules are compiled. The time of this file, and of the next, is that of the start of the build. */
export const COMPILED = join(root, 'dist/.compiled')
/** Written when all of dist is built. */
export const COMPLETE = join(root, 'dist/.built')

/** Returns true if the part of dist that a stamp stands for is newer than all of its sources. */
export function isFresh(stamp) {
  return existsSync(stamp) && Math.max(...SOURCES.map(newest)) < statSync(stamp).mtimeMs
}

/** Returns when a file, or anything in a folder, was changed last; a folder changes when a file in it is deleted. */
function newest(path) {
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status?.isDirectory()) return status?.mtimeMs ?? 0
  return Math.max(status.mtimeMs, ...readdirSync(path).map(name => newest(join(path, name))))
}
