// Builds dist: the compiled modules with their types (`tsc -b`, which compiles only what changed), then the bundles and
// the manual pages. Does nothing if dist is newer than all of its sources.
import { spawnSync } from 'node:child_process'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFresh, stamp } from './fresh.mjs'

const root = join(import.meta.dirname, '..')
const started = Date.now()
if (process.argv[2] === '--clean') rmSync(join(root, 'dist'), { recursive: true, force: true })
if (!isFresh()) {
  run(join(root, 'node_modules/typescript/bin/tsc'), '-b', root)
  run(join(root, 'scripts/bundle.mjs'))
  run(join(root, 'scripts/man.mjs'))
  writeFileSync(stamp, '')
  utimesSync(stamp, started / 1000, started / 1000)
}

function run(...words) {
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
