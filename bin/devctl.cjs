#!/bin/sh
':' //; exec node -- "$0" "$@"
// The shell replaces itself by Node, and runs no other line. Node would take `--env-file` from anywhere on the
// command line and obey the NODE_OPTIONS in that file, which are code to load; it stops looking at `--`. There is no
// `env -S` on Alpine.
//
// Starts the command line. It is in many files, of which a command loads those that it needs, each
// with its compiled code beside it (scripts/bundle.mjs): compiling takes Node as long as most commands
// run. Node checks that the code fits its own version, and compiles where it does not.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Script } = require('node:vm')

const folder = join(__dirname, '..', 'dist', 'bin')
const loaded = new Map()

/** What a file of the program exports. */
function load(name) {
  if (!loaded.has(name)) run(name)
  return loaded.get(name).module.exports
}

function run(name) {
  const file = join(folder, name)
  // The files are ASCII, and `latin1` is the encoding that takes no time to decode.
  const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData: compiledCode(file) })
  const module = { exports: {} }
  loaded.set(name, { file, script, module })
  const requireFrom = id => (id.startsWith('./') ? load(id.slice(2)) : require(id))
  script.runInThisContext()(module.exports, requireFrom, module, file, folder)
}

function compiledCode(file) {
  try {
    return readFileSync(`${file}.cache`)
  } catch {
    // No command that was run for the build needs the file, or the package was not built here.
  }
}

/** The entry of the program; undefined in a clone that is not built. */
function program() {
  try {
    return load('devctl.cjs')
  } catch (error) {
    if (error.code !== 'ENOENT' || error.path !== join(folder, 'devctl.cjs')) throw error
    process.stderr.write('error: devctl is not built\n  = help: run `npm run build`\n')
    process.exitCode = 1
  }
}

if (require.main === module) program()?.start(process.argv.slice(2))
else module.exports = { load, loaded }
