// Builds dist: the compiled modules with their types (`tsc -b`, which compiles only what changed) beside the bundles,
// whose sources are the same; then what needs both. `--modules` only compiles, because unit tests need new modules and
// no new bundles; it builds all of dist where that is missing. `--clean` starts from nothing. Does nothing if dist is
// newer than all of its sources.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { copyDeclarations } from './bundle-library.mjs'
import { COMPILED, COMPLETE, isFresh } from './fresh.mjs'

const root = join(import.meta.dirname, '..')
const started = Date.now()
/**
 * Number of type checkers: one per processor, but at most four. Each checker also loads types that others have loaded,
 * so additional ones would only take time.
 */
const CHECKERS = String(Math.min(availableParallelism(), 4))

const options = process.argv.slice(2)
if (options.includes('--clean')) rmSync(join(root, 'dist'), { recursive: true, force: true })
const compiling = () => run('node_modules/typescript/bin/tsc', '-b', root, '--checkers', CHECKERS)
if (options.includes('--modules') && existsSync(COMPLETE)) {
  if (!isFresh(COMPILED)) {
    await all(compiling())
    stamp(COMPILED)
  }
} else if (!isFresh(COMPLETE)) {
  await all(compiling(), run('scripts/bundle.mjs'))
  stamp(COMPILED)
  copyDeclarations()
  await all(run('scripts/bundle.mjs', '--keep-compiled-code'), run('scripts/man.mjs'))
  stamp(COMPLETE)
}

/** Runs a script of Node.js. Returns true if it succeeded. */
async function run(script, ...words) {
  const child = spawn(process.execPath, [join(root, script), ...words], { stdio: 'inherit' })
  const [status] = await once(child, 'close')
  return status === 0
}

/** Waits for all scripts. If one of them failed, ends this process. */
async function all(...scripts) {
  const succeeded = await Promise.all(scripts)
  if (!succeeded.every(Boolean)) process.exit(1)
}

/**
 * Writes the stamp file of a part of dist. The modification time of the file is the time at which this build started.
 */
function stamp(file) {
  writeFileSync(file, '')
  utimesSync(file, started / 1000, started / 1000)
}
