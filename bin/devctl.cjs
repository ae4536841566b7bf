#!/bin/sh
':' //; exec node -- "$0" "$@"
// The shell replaces itself by Node, and runs no other line. Node would take `--env-file` from anywhere on the
// command line and obey the NODE_OPTIONS in that file, which are code to load; it stops looking at `--`. There is no
// `env -S` on Alpine.
//
// Starts the command line. It is in many files, of which a command loads those that it needs (scripts/bundle.mjs). Those
// that most commands need are also in packs: one module is read, compiled and evaluated sooner than fifty.
// Compiling takes Node as long as most commands run, so the compiled code is kept: beside the files in a clone, and in
// the user's cache folder for an installed package. Node checks that the code fits its own version, and compiles where
// it does not.
const {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
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
/**
 * Name of the pack that is loaded first. A pack is a file that contains several files of the program. The first pack
 * also contains an index with the names of the packs that contain the other files.
 */
const FIRST = 'start.pack'
/**
 * Files of the program that are in packs, by name. Each value is a function that returns the exports of the file or,
 * until its pack is loaded, the name of the pack.
 */
const parts = {}
const loaded = new Map()
/** Compiled files of the program, by name. `isKept` is true if the compiled code came from the cache. */
const scripts = new Map()
/** Modules of Node that most commands import and few use. They are loaded at their first use. */
const LATE = new Set(['node:child_process', 'node:crypto'])
/** Age in milliseconds after which the compiled code of other versions is deleted. */
const OLD = 90 * 24 * 3_600_000

/** Returns the exports of a file of the program. Runs the file at the first call. */
function load(name) {
  if (!loaded.has(name)) run(name)
  return loaded.get(name).exports
}

function run(name) {
  if (scripts.size === 0 && existsSync(join(folder, FIRST))) unpack(FIRST)
  if (typeof parts[name] === 'string') unpack(parts[name])
  if (parts[name]) loaded.set(name, { exports: parts[name]() })
  else {
    const start = compile(name)
    const module = { exports: {} }
    loaded.set(name, module)
    start(module.exports, requireFrom, module, join(folder, name), folder)
  }
}

function unpack(name) {
  const pack = { exports: {} }
  compile(name)(pack.exports, requireFrom, pack, join(folder, name), folder)
  Object.assign(parts, pack.exports.parts)
}

function requireFrom(id) {
  if (id.startsWith('./')) return load(id.slice(2))
  return LATE.has(id) ? late(id) : require(id)
}

/** Returns a stand-in for a module of Node. The module is loaded when an export or the list of exports is read. */
const late = id => new Proxy({}, { get: (_, name) => require(id)[name], ownKeys: () => Reflect.ownKeys(require(id)) })

/** Compiles a file, and returns the function that the file contains. */
function compile(name) {
  const filename = join(folder, name)
  // The file and its compiled code are read into the same memory: fresh memory takes longer than reading.
  const memory = { bytes: Buffer.alloc(0) }
  // The files are ASCII, and `latin1` is the encoding that takes no time to decode.
  const text = read(filename, memory).latin1Slice()
  const cachedData = compiledCode(name, text, memory)
  const script = new Script(text, { filename, cachedData })
  scripts.set(name, { script, isKept: cachedData !== undefined && !script.cachedDataRejected })
  return script.runInThisContext()
}

/** The folder with the compiled code; undefined if there can be none. */
let cache

/**
 * Returns the bytes of a file. The result is a view of `memory.bytes`, which the next call with the same `memory`
 * overwrites.
 */
function read(path, memory) {
  const file = openSync(path)
  try {
    const { size } = fstatSync(file)
    // Compiled code is less than twice as long as its source.
    if (memory.bytes.length < size) memory.bytes = Buffer.allocUnsafeSlow(2 * size)
    let length = 0
    for (let count = 1; count > 0 && length < size; length += count)
      count = readSync(file, memory.bytes, length, size - length, null)
    return memory.bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Returns the compiled code of a file; undefined if it must be compiled. */
function compiledCode(name, text, memory) {
  try {
    if (scripts.size === 0) chooseCache(text)
    if (cache === undefined) return undefined
    return read(join(cache, cacheName(name)), memory)
  } catch {
    // No command that has run yet has needed the file, or there is no home.
  }
}

/**
 * Returns the name under which the compiled code of a file is cached. A pack has compiled code for each command, with
 * the functions that the command has called.
 */
function cacheName(name) {
  if (cache === folder || !name.endsWith('.pack')) return `${name}.cache`
  const [, , command = ''] = process.argv
  return `${name}.${/^[a-z][a-z-]*$/.test(command) ? command : 'options'}.cache`
}

/** Returns the part of cached code that V8 compares first: the version and the flags of V8. */
const v8 = () => new Script('0').createCachedData().toString('hex', 4, 16)

/**
 * Chooses the folder of the compiled code, when the first file is loaded. `text` is the text of that file, which names
 * the build. The code is only valid for one build, one version of Node and one processor type: V8 would accept the code
 * of any other file of the same length.
 */
function chooseCache(text) {
  // Code of another version of Node can crash it: V8 compares only its own version, which several of them share.
  if (lstatSync(join(folder, `${process.version}.cache`), { throwIfNoEntry: false })) {
    cache = folder
    return
  }
  const [, build] = /^\/\* build (\w+) \*\//.exec(text) ?? []
  const { XDG_CACHE_HOME: wanted = '' } = process.env
  const parent = isAbsolute(wanted) ? wanted : join(homedir(), '.cache')
  // A relative home is the current folder, which may be anybody's checkout.
  if (require.main !== module || build === undefined || !isAbsolute(parent)) return
  const [top, all] = [join(parent, 'devctl'), join(parent, 'devctl', 'code')]
  // Flags of V8 change its code: they are in the options of Node, or in NODE_OPTIONS.
  const hasFlags = process.execArgv.some(option => option !== '--') || process.env.NODE_OPTIONS
  const flags = hasFlags ? `-${require('node:v8').cachedDataVersionTag() >>> 0}` : ''
  const own = join(all, `${build}-${process.version}-${process.arch}${flags}`)
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
  const isThere = existsSync(own)
  cache = own
  const before = v8()
  process.once('exit', status => {
    try {
      // Wrong usage may have any word for a command, and code for flags that this process has set fits no next start.
      if (status !== 2 && v8() === before) keepCode(isThere ? [own] : [parent, top, all, own])
    } catch {
      // A full or read-only disk makes the next start slower, and nothing else.
    }
  })
}

/**
 * Writes the code that this run has compiled to the last of the folders, for later runs. `folders` are nested, and
 * missing ones are created. Each file appears only when it is complete.
 */
function keepCode(folders) {
  const compiled = [...scripts].filter(([, { isKept }]) => !isKept)
  if (compiled.length === 0) return
  if (folders.length > 1) {
    const all = folders.at(-2)
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
    const temporary = join(cache, `${name}.${process.pid}-${Math.random().toString(36).slice(2)}`)
    try {
      writeFileSync(temporary, script.createCachedData(), { flag: 'wx' })
      renameSync(temporary, join(cache, cacheName(name)))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
  }
}

/** Returns the exports of the program; undefined, after an error message, in a clone that is not built. */
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
else module.exports = { load, loaded, scripts }
