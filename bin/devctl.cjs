#!/bin/sh
':' //; exec node -- "$0" "$@"
// The shell replaces itself by Node, and runs no other line. Node would take `--env-file` from anywhere on the
// command line and obey the NODE_OPTIONS in that file, which are code to load; it stops looking at `--`. There is no
// `env -S` on Alpine.
//
// Starts the command line. It is in many files, of which a command loads those that it needs (scripts/bundle.mjs).
// Compiling them takes Node as long as most commands run, so the compiled code is kept: beside the files in a clone,
// and in the user's cache folder for an installed package. Node checks that the code fits its own version, and compiles
// where it does not.
const {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs')
const { homedir } = require('node:os')
const { dirname, isAbsolute, join } = require('node:path')
const { Script } = require('node:vm')

const folder = join(__dirname, '..', 'dist', 'bin')
const loaded = new Map()
/** Milliseconds after which the compiled code of other versions is deleted. */
const OLD = 90 * 24 * 3_600_000

/** What a file of the program exports. */
function load(name) {
  if (!loaded.has(name)) run(name)
  return loaded.get(name).module.exports
}

function run(name) {
  const file = join(folder, name)
  // The files are ASCII, and `latin1` is the encoding that takes no time to decode.
  const text = readFileSync(file, 'latin1')
  const cachedData = compiledCode(name, text)
  const script = new Script(text, { filename: file, cachedData })
  const module = { exports: {} }
  const isKept = cachedData !== undefined && !script.cachedDataRejected
  loaded.set(name, { file, script, module, isKept })
  const requireFrom = id => (id.startsWith('./') ? load(id.slice(2)) : require(id))
  script.runInThisContext()(module.exports, requireFrom, module, file, folder)
}

/** The folder with the compiled code; undefined if there is none to use. */
let cache

/** Returns the compiled code of a file; undefined if it must be compiled. */
function compiledCode(name, text) {
  try {
    if (loaded.size === 0) chooseCache(text)
    if (cache === undefined) return undefined
    return readFileSync(join(cache, `${name}.cache`))
  } catch {
    // No command that has run yet has needed the file, or there is no home.
  }
}

/**
 * Chooses the folder of the compiled code, when the first file is loaded. The code belongs to a build, to a version of
 * Node and to a processor: V8 takes the code of any file of the same length.
 */
function chooseCache(text) {
  if (lstatSync(join(folder, 'devctl.cjs.cache'), { throwIfNoEntry: false })) {
    cache = folder
    return
  }
  const [, build] = /^\/\* build (\w+) \*\//.exec(text) ?? []
  const { XDG_CACHE_HOME: wanted = '' } = process.env
  const parent = isAbsolute(wanted) ? wanted : join(homedir(), '.cache')
  // A relative home is the current folder, which may be anybody's checkout.
  if (require.main !== module || build === undefined || !isAbsolute(parent)) return
  const [top, all] = [join(parent, 'devctl'), join(parent, 'devctl', 'code')]
  const own = join(all, `${build}-${process.version}-${process.arch}`)
  const found = statSync(parent, { throwIfNoEntry: false }) ?? statSync(dirname(parent), { throwIfNoEntry: false })
  const uid = process.getuid?.() ?? found?.uid
  // A process under `sudo` may have the home of a user who could then not delete the files.
  if (found === undefined || found.uid !== uid) return
  const isOwn = path => {
    const there = lstatSync(path, { throwIfNoEntry: false })
    return !there || (there.isDirectory() && there.uid === uid && (there.mode & 0o022) === 0)
  }
  // Whoever can write to these folders can run code here.
  if (![top, all, own].every(isOwn)) return
  if (existsSync(own)) cache = own
  process.once('exit', () => {
    try {
      keepCode([parent, top, all, own])
    } catch {
      // A full or read-only disk makes the next start slower, and nothing else.
    }
  })
}

/** Writes the code that this run has compiled, each file at once, for the next runs. */
function keepCode(folders) {
  const compiled = [...loaded].filter(([, { isKept }]) => !isKept)
  if (compiled.length === 0) return
  const [all, own] = folders.slice(-2)
  if (cache === undefined) {
    // One after the other: with `recursive`, Node.js 20 never returns from a path below /proc.
    for (const path of folders) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
    for (const name of readdirSync(all)) {
      const other = join(all, name)
      const { mtimeMs = Date.now() } = lstatSync(other, { throwIfNoEntry: false }) ?? {}
      if (Date.now() - mtimeMs > OLD) rmSync(other, { recursive: true, force: true })
    }
  }
  for (const [name, { script }] of compiled) {
    // Containers that share the folder have the same numbers of processes.
    const temporary = join(own, `${name}.${process.pid}-${Math.random().toString(36).slice(2)}`)
    try {
      writeFileSync(temporary, script.createCachedData(), { flag: 'wx' })
      renameSync(temporary, join(own, `${name}.cache`))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
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
