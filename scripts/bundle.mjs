// Puts the command line and the packages it uses into files of which each command loads what it needs, beside the
// bundles of the agent, the platform, its pages and the library. `--keep-compiled-code` keeps the compiled code of
// typical runs beside the files of the command line (see bin/devctl.cjs); it uses modules that `tsc` has compiled.
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { build, transform } from 'esbuild'
import { bundleLibrary, forNode } from './bundle-library.mjs'
import { bundleWeb } from './bundle-web.mjs'
import { standInServer } from './stand-in-server.mjs'
import { writeThirdParty } from './third-party.mjs'

const root = join(import.meta.dirname, '..')
const bin = join(root, 'dist/bin')
const output = { ...forNode, minify: true }

/** Commands that compile the files of a folder. */
const COMPILING = ['render --namespace shop --domain dev.example.com', 'validate']

/** Completion requests, one for each kind of value. */
const COMPLETING = [
  '__complete fish deploy --context ',
  '__complete fish deploy ',
  '__complete fish explain ',
  '__complete fish pipeline deploy --branch ',
  '__complete fish deploy --namespace ',
]

const [, , part] = process.argv
if (part === '--list-packs') await listPacks()
else if (part === '--keep-compiled-code') await keepCompiledCode(process.argv[3] ?? root)
else {
  const bundles = await Promise.all([bundle(), bundleAgent(), bundlePlatform(), bundleWeb(), bundleLibrary()])
  const metafiles = bundles.flat()
  // For tests and for questions about sizes.
  writeFileSync(join(root, 'dist/metafiles.json'), JSON.stringify(metafiles))
  writeThirdParty(metafiles)
}

/**
 * Writes a file that starts the program, and a file for each module that is imported with `import()`. Code that several
 * of these files need is in shared files. Like all functions here that bundle, returns the metafile of esbuild.
 */
async function bundle() {
  const { outputFiles, metafile } = await build({
    ...output,
    entryPoints: { devctl: 'cli/start.ts' },
    outdir: 'dist/bin',
    outExtension: { '.js': '.cjs' },
    splitting: true,
    format: 'esm',
    legalComments: 'linked',
    // The files become scripts, in which the path of a module has other names.
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' },
    write: false,
  })
  // Removes parts of earlier builds, whose names have other hashes, and compiled code, which V8 takes for that of any
  // file of the same length.
  rmSync(bin, { recursive: true, force: true })
  mkdirSync(bin, { recursive: true })
  // Compiled code is kept by this name, since the names of files do not tell builds apart.
  const content = createHash('sha256')
  for (const { text } of outputFiles) content.update(text)
  const id = content.digest('hex').slice(0, 16)
  const writing = outputFiles.map(async ({ path, text }) => {
    const entry = metafile.inputs[metafile.outputs[relative(root, path)].entryPoint]
    const mark = basename(path) === 'devctl.cjs' ? `/* build ${id} */` : ''
    writeFileSync(path, path.endsWith('.cjs') ? mark + (await toFunction(text, entry?.format)) : text)
  })
  await Promise.all(writing)
  await makePacks(id, { outputFiles, metafile })
  return metafile
}

/** Bundles the agent into one file. A Secret provides this file to the Pod, whose image is a stock Node.js. */
async function bundleAgent() {
  const { metafile } = await build({
    ...output,
    entryPoints: ['agent/main.ts'],
    outfile: 'dist/agent/agent.cjs',
    format: 'cjs',
    legalComments: 'inline',
  })
  return metafile
}

/**
 * Bundles the server of the platform and the program that executes its runs, each into one file. An image of the
 * platform contains a stock Node.js and these files.
 */
async function bundlePlatform() {
  const { metafile } = await build({
    ...output,
    entryPoints: { server: 'platform/server/main.ts', runner: 'platform/runner/main.ts' },
    outdir: 'dist/platform',
    outExtension: { '.js': '.cjs' },
    target: 'node22',
    format: 'cjs',
    legalComments: 'inline',
  })
  return metafile
}

/**
 * Converts a file to a function that bin/devctl.cjs calls. ES modules must be converted to scripts: esbuild can only
 * split ES modules, but Node.js can only store the compiled code of scripts. `format` is the format of the source. If
 * the source is a CommonJS package, the function also exports the names of the package, as Node.js does, because
 * esbuild exports only `default`.
 */
async function toFunction(text, format) {
  const { platform, target } = output
  const options = {
    minify: true,
    platform,
    target,
    logLevel: 'error',
    format: 'cjs',
    supported: { 'dynamic-import': false },
  }
  const { code } = await transform(text, options)
  const names = format === 'cjs' ? 'module.exports = module.exports.default' : ''
  return `(function (exports, require, module, __filename, __dirname) {${code}${names}})`
}

/**
 * Joins files that are loaded together into packs. A pack is one module, whose files share their variables. Its export
 * `parts` contains a function for each file, which returns the exports of the file. In the first pack, `parts` also
 * contains the name of the pack of each file in another pack.
 */
async function makePacks(id, { outputFiles, metafile }) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  // A process of its own loads devctl afresh.
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, '--list-packs'])
  const [first, ...others] = JSON.parse(stdout)
  const places = others.flatMap(({ pack, files }) => files.map(file => `${JSON.stringify(file)}: "${pack}"`))
  const writing = [first, ...others].map(async ({ pack, files }) => {
    const members = files.map((file, index) => packMember(file, metafile.outputs[`dist/bin/${file}`].exports, index))
    const parts = [...members.map(({ part }) => part), ...(pack === first.pack ? places : [])]
    const entry = `${members.map(({ statement }) => statement).join('\n')}\nexport const parts = { ${parts} }`
    const text = await bundleFiles(entry, new Map(files.map(file => [`./${file}`, texts.get(file)])))
    // The start of the program chooses the compiled code by the mark.
    const mark = pack === first.pack ? `/* build ${id} */` : ''
    writeFileSync(join(bin, pack), mark + (await toFunction(text)))
  })
  await Promise.all(writing)
}

/**
 * Returns the code for a file in a pack: the statement that imports all its names, and the function that returns them.
 */
function packMember(file, names, index) {
  const imported = names.map((name, at) => `${name} as name${index}_${at}`)
  const getters = names.map((name, at) => `get ${name}() { return name${index}_${at} }`)
  return {
    statement: `import { ${imported} } from ${JSON.stringify(`./${file}`)}`,
    part: `${JSON.stringify(file)}: () => ({ ${getters} })`,
  }
}

/**
 * Bundles a module with other files, and returns the text of the bundle. `texts` contains the text of each file, by the
 * path with which it is imported.
 */
async function bundleFiles(contents, texts) {
  const files = {
    name: 'files',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path, kind }) =>
        // bin/devctl.cjs finds what is imported late.
        texts.has(path) && kind !== 'dynamic-import' ? { path, namespace: 'files' } : { path, external: true },
      )
      onLoad({ filter: /^/, namespace: 'files' }, ({ path }) => ({ contents: texts.get(path) }))
    },
  }
  const { outputFiles } = await build({ ...output, stdin: { contents }, format: 'esm', write: false, plugins: [files] })
  return outputFiles[0].text
}

/**
 * Prints the packs as JSON: the files that `--help` loads; further files that both compiling and completion load; and
 * further files that only compiling loads, because completion has no time to load the compiler.
 */
async function listPacks() {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-build-'))
  try {
    const io = standInIo({ HOME: folder }, '')
    const start = await loadedBy(io, ['--help'])
    const completing = await loadedBy(io, COMPLETING)
    const compiling = await loadedBy(io, ['config --file compose.yaml --output json', ...COMPILING])
    const later = compiling.filter(file => !start.includes(file))
    const packs = [
      { pack: 'start.pack', files: start },
      { pack: 'read.pack', files: later.filter(file => completing.includes(file)) },
      { pack: 'compile.pack', files: later.filter(file => !completing.includes(file)) },
    ]
    console.log(JSON.stringify(packs))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the names of the files that commands load, in the order in which they are loaded. */
async function loadedBy(io, commands) {
  const require = createRequire(import.meta.url)
  const path = require.resolve('../bin/devctl.cjs')
  delete require.cache[path]
  const { load, loaded } = require(path)
  await runAll(load('devctl.cjs'), io, commands)
  return [...loaded.keys()]
}

/** Returns the streams and the environment of a command whose output is discarded. `input` is its standard input. */
function standInIo(env, input) {
  const nobody = { isTTY: false, write: () => true }
  const readStdin = async () => Buffer.from(input)
  return { stdout: nobody, stderr: nobody, readStdin, env, cwd: join(root, 'examples/voting') }
}

async function runAll(program, io, commands) {
  for (const words of commands)
    if ((await program.main(words.split(' '), io)) !== 0) throw new Error(`devctl ${words} failed`)
}

/**
 * Runs the commands of a copy of the program once, so that Node.js compiles the code that they need, and writes the
 * compiled code into the copy.
 */
async function keepCompiledCode(copy) {
  const { load, scripts } = createRequire(import.meta.url)(join(copy, 'bin/devctl.cjs'))
  const program = load('devctl.cjs')
  const server = await standInServer()
  const folder = mkdtempSync(join(tmpdir(), 'devctl-build-'))
  try {
    const env = { HOME: folder, DEVCTL_HOME: folder, KUBECONFIG: kubeconfigFor(server.port, folder) }
    const io = standInIo(env, 'services: {web: {image: nginx, ports: ["80"]}, api: {image: nginx}}')
    const deploy = 'deploy --file - --name shop'
    await runAll(program, io, ['--help', 'config --output json', ...COMPILING, deploy, deploy, ...COMPLETING])
    await buildOnce(program, io, folder, `127.0.0.1:${server.port}`)
    await publishOnce(program, io, folder)
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
  const kept = join(copy, 'dist/bin')
  for (const [name, { script }] of scripts) writeFileSync(join(kept, `${name}.cache`), script.createCachedData())
  // The code is for this version of Node, which bin/devctl.cjs checks.
  writeFileSync(join(kept, `${process.version}.cache`), '')
}

/**
 * Runs `build` with a stand-in for BuildKit, once for a Dockerfile and once for an image that the registry already has.
 */
async function buildOnce(program, io, folder, registry) {
  // It uses modules of the build.
  const { standInBuilder } = await import('./stand-in-builder.mjs')
  const builder = await standInBuilder()
  writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\n')
  writeFileSync(join(folder, 'compose.yaml'), 'name: shop\nservices: {web: {build: .}}')
  try {
    const world = { ...io, cwd: folder, env: { ...io.env, BUILDKIT_HOST: builder.address } }
    await runAll(program, world, [`build --file Dockerfile --tag ${registry}/web:1 .`, `build --registry ${registry}`])
  } finally {
    builder.close()
  }
}

/**
 * Runs `publish` if git is available. Without git, the program works as well, but the first `publish` of a process is a
 * little slower, because its code is not compiled in advance.
 */
async function publishOnce(program, io, folder) {
  const repository = join(folder, 'deploy.git')
  if (spawnSync('git', ['init', '--quiet', '--bare', repository]).status !== 0) return
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    TMPDIR: folder,
    ...Object.fromEntries(['AUTHOR', 'COMMITTER'].map(who => [`GIT_${who}_NAME`, 'Build'])),
    ...Object.fromEntries(['AUTHOR', 'COMMITTER'].map(who => [`GIT_${who}_EMAIL`, 'build@example.com'])),
  }
  const words = ['publish', '--file', '-', '--name', 'shop', '--domain', 'example.com', '--path', 'shop']
  const texts = ['services: {web: {image: nginx:1}}', 'services: {web: {image: nginx:2}}']
  for (const text of [...texts, texts[1]])
    await program.main([...words, '--repository', repository], { ...io, env, readStdin: async () => Buffer.from(text) })
}

function kubeconfigFor(port, folder) {
  const file = join(folder, 'kubeconfig')
  const name = 'build'
  const config = {
    'current-context': name,
    contexts: [{ name, context: { cluster: name } }],
    clusters: [{ name, cluster: { server: `http://127.0.0.1:${port}` } }],
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}
