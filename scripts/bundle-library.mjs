// Puts the modules for programs (`devctl/compiler`, `devctl/constructs`, `devctl/operations`) into dist/lib, with the
// packages that they use, so that the package has no dependencies. Only `devctl/constructs` imports cdk8s, because its
// constructs are part of the chart of the program.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { smallCdk8s } from './small-cdk8s.mjs'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const lib = join(dist, 'lib')

/** Entry of each module, without its extension. The types of the module have the same path below dist. */
const ENTRIES = { compiler: 'compiler/index', constructs: 'api/constructs', operations: 'api/operations' }

/** Packages that are not bundled, because the program that uses `devctl/constructs` provides them. */
const PEERS = ['cdk8s', 'cdk8s-plus-27', 'constructs']

/**
 * Lets commander load without `node:child_process`. commander only needs this module for subcommands that are separate
 * programs, which devctl does not have.
 */
const withoutSubprocesses = {
  name: 'without subprocesses',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/commander/') ? { path, namespace: 'unused' } : undefined,
    )
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/** Options of every bundle for Node.js. */
export const forNode = {
  absWorkingDir: root,
  logLevel: 'warning',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  metafile: true,
  // Optional parts of ssh2 that are compiled for one system: it does without them.
  external: ['cpu-features', '*.node'],
  // node-fetch uses it where Node.js has no URL, and its tables are 300 kB.
  alias: { 'whatwg-url': 'node:url' },
  plugins: [smallCdk8s, withoutSubprocesses],
}

const output = {
  ...forNode,
  outdir: lib,
  format: 'esm',
  // Names stay, for the traces of programs.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'linked',
  // Packages in CommonJS use these names.
  banner: {
    js: [
      "import { createRequire as devctlRequire } from 'node:module';",
      "import { dirname as devctlFolder } from 'node:path';",
      "import { fileURLToPath as devctlPath } from 'node:url';",
      'const require = devctlRequire(import.meta.url);',
      'const __filename = devctlPath(import.meta.url);',
      'const __dirname = devctlFolder(__filename);',
    ].join(' '),
  },
}

/** Makes all names of a CommonJS package available to `import()`: esbuild would export only `default`. */
const withNames = {
  name: 'with names',
  setup({ onLoad, onResolve, resolve }) {
    onResolve({ filter: /^[^.]/ }, async ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined
      const found = await resolve(path, { kind: 'import-statement', resolveDir })
      const isScript = !found.external && isCommonJs(found.path)
      return isScript ? { path, namespace: 'names', pluginData: { resolveDir, file: found.path } } : found
    })
    onLoad({ filter: /./, namespace: 'names' }, ({ pluginData: { resolveDir, file } }) => {
      const names = Object.keys(load(file)).filter(name => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default')
      const from = JSON.stringify(file)
      return {
        resolveDir,
        contents: `const all = require(${from}); export default all; export const { ${names} } = all`,
      }
    })
  },
}

const load = createRequire(import.meta.url)

/** Returns true if a file belongs to a CommonJS package. */
function isCommonJs(path) {
  if (/\.mjs$/.test(path)) return false
  const { type } = JSON.parse(readFileSync(packageOf(path), 'utf8'))
  return type !== 'module'
}

/** Returns the path of the nearest package.json above a file. */
function packageOf(path) {
  const found = join(dirname(path), 'package.json')
  return existsSync(found) ? found : packageOf(dirname(path))
}

/** Deletes the modules of an earlier build, and writes the new ones. Returns the metafiles of esbuild. */
export async function bundleLibrary() {
  rmSync(lib, { recursive: true, force: true })
  const writing = Object.entries(ENTRIES).map(async ([name, path]) => {
    const own = name === 'constructs' ? { external: [...output.external, ...PEERS], plugins: [] } : {}
    // Without the packages that only some operations use, programs start in half of the time.
    if (name === 'operations') Object.assign(own, { splitting: true, plugins: [...output.plugins, withNames] })
    const { metafile } = await build({ ...output, entryPoints: { [name]: `${path}.ts` }, ...own })
    return metafile
  })
  return Promise.all(writing)
}

/** Copies the declaration files of the modules, which `tsc` has written, to the folder `types` next to the modules. */
export function copyDeclarations() {
  for (const path of declarations(Object.values(ENTRIES).map(entry => join(dist, `${entry}.d.ts`)))) {
    const target = join(lib, 'types', relative(dist, path))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(path, target)
  }
}

/** Returns the given declaration files, and all declaration files that they import directly or indirectly. */
function declarations(paths) {
  const found = new Set()
  const queue = [...paths]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue
    found.add(path)
    const imports = readFileSync(path, 'utf8').matchAll(/\bfrom '(\.[^']+)'|\bimport\("(\.[^"]+)"\)/g)
    for (const [, plain, inType] of imports)
      queue.push(join(dirname(path), (plain ?? inType).replace(/\.[jt]s$/, '.d.ts')))
  }
  return found
}
