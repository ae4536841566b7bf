// The entry of the single executable: runs the files of dist/bin that it contains, as bin/devctl.cjs runs those of a
// package. The compiled code of typical runs is beside them, if the machine that made the executable could run it.
const { getAssetKeys, getRawAsset } = require('node:sea')
const { Script } = require('node:vm')

const files = new Set(getAssetKeys())
const loaded = new Map()

/** Returns the exports of a file of the program. The first call runs the file. */
function load(name) {
  if (!loaded.has(name)) run(name)
  return loaded.get(name).exports
}

function run(name) {
  const path = `devctl/dist/bin/${name}`
  const cachedData = files.has(`${path}.cache`) ? read(`${path}.cache`) : undefined
  // The files are ASCII, and `latin1` is the encoding that takes no time to decode.
  const script = new Script(read(path).latin1Slice(), { filename: `devctl/${name}`, cachedData })
  const module = { exports: {} }
  loaded.set(name, module)
  const requireFrom = id => (id.startsWith('./') ? load(id.slice(2)) : require(id))
  script.runInThisContext()(module.exports, requireFrom, module, `/${path}`, '/devctl/dist/bin')
}

/** Returns the bytes of a contained file without copying them. The caller must not change the bytes. */
function read(path) {
  return Buffer.from(getRawAsset(path))
}

load('devctl.cjs').start(process.argv.slice(2))
