// Builds dist: the compiled modules with their types (`tsc -b`, which compiles only what changed), then the bundles. Does nothing
// if dist is newer than all of its sources.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
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
  'operations',
  'platform',
]
  .concat('scripts', 'sync', 'package.json', 'package-lock.json', 'tsconfig.json', 'node_modules/.package-lock.json')
  .map(path => join(root, path))
/** Written when a build is complete. Its time is that of the start of the build. */
const stamp = join(root, 'dist/.built')

const started = Date.now()
if (process.argv[2] === '--clean') rmSync(join(root, 'dist'), { recursive: true, force: true })
if (!isFresh()) {
  run(join(root, 'node_modules/typescript/bin/tsc'), '-b', root)
  run(join(root, 'scripts/bundle.mjs'))
  writeFileSync(stamp, '')
  utimesSync(stamp, started / 1000, started / 1000)
}

function isFresh() {
  return existsSync(stamp) && Math.max(...SOURCES.map(newest)) < statSync(stamp).mtimeMs
}

/** Returns when a file, or anything in a folder, was changed last; a folder changes when a file in it is deleted. */
function newest(path) {
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status?.isDirectory()) return status?.mtimeMs ?? 0
  return Math.max(status.mtimeMs, ...readdirSync(path).map(name => newest(join(path, name))))
}

function run(...words) {
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
