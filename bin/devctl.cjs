#!/usr/bin/env node
// Starts the command line. It is one file of some 900 kB (and what hardly anybody needs, beside it), which takes Node as long to compile as most commands run; so the build
// keeps the compiled code beside it (`npm run build`). Node checks that it fits its own version, and compiles where it does not.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Script } = require('node:vm')

const folder = join(__dirname, '..', 'dist', 'bin')
const file = join(folder, 'devctl.cjs')
const kept = join(folder, 'devctl.cache')

/** The compiled program, and the function that it is. */
function load() {
  let cachedData
  try {
    cachedData = readFileSync(kept)
  } catch {
    // A package that was not built here has none.
  }
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`
  const script = new Script(source, { filename: file, cachedData })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, require, module, file, folder)
  return { script, program: module.exports }
}

if (require.main === module) load().program.start(process.argv.slice(2))
else module.exports = { load, kept }
