// Puts the command line and the packages it uses into files of which each command loads what it needs,
// and keeps the compiled code of typical runs beside them (see bin/devctl.cjs).
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
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

/** Lines to complete, one for each kind of value. */
const COMPLETING = [
  '__complete fish deploy --context ',
  '__complete fish deploy ',
  '__complete fish explain ',
  '__complete fish pipeline deploy --branch ',
  '__complete fish deploy --namespace ',
]

const [, , part] = process.argv
if (part === '--make-packs') await makePacks()
else if (part === '--keep-compiled-code') await keepCompiledCode(process.argv[3] ?? root)
else {
  const metafiles = [await bundle(), await bundleAgent(), await bundlePlatform(), await bundleWeb()]
  metafiles.push(...(await bundleLibrary()))
  // For tests and for questions about sizes.
  writeFileSync(join(root, 'dist/metafiles.json'), JSON.stringify(metafiles))
  writeThirdParty(metafiles)
  // In processes of their own: the code must be as a fresh start of devctl leaves it.
  for (const next of ['--make-packs', '--keep-compiled-code']) {
    const { status } = spawnSync(process.execPath, [import.meta.filename, next], { stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  }
}

/**
 * Writes a file that starts the program, and one for each module that is imported by `import()`; what
 * several of them need is in files that they share. Returns the metafile, as all functions here do.
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
  for (const { path, text } of outputFiles) {
    const entry = metafile.inputs[metafile.outputs[relative(root, path)].entryPoint]
    const mark = basename(path) === 'devctl.cjs' ? `/* build ${id} */` : ''
    writeFileSync(path, path.endsWith('.cjs') ? mark + (await toFunction(text, entry?.format)) : text)
  }
  return metafile
}

/** The program that runs in the Pod, in one file: a Secret holds it, beside a stock Node.js. */
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
 * The server of the platform, and the program of its runs, each in one file: their images have a stock Node.js and
 * this.
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
 * Makes a file the function that bin/devctl.cjs calls: esbuild splits ES modules only, and Node keeps
 * the compiled code of scripts only. Of a CommonJS package esbuild exports nothing but `default`; its
 * names must be there too, as they are in Node.
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
 * Puts the files that each command loads into a pack, and those that compile Compose files into another one, for
 * bin/devctl.cjs: objects with the functions of the files.
 */
async function makePacks() {
  const { load, loaded } = createRequire(import.meta.url)('../bin/devctl.cjs')
  const program = load('devctl.cjs')
  const folder = mkdtempSync(join(tmpdir(), 'devctl-build-'))
  const io = standInIo({ HOME: folder }, '')
  try {
    await runAll(program, io, ['--help'])
    const start = [...loaded.keys()]
    await runAll(program, io, ['config --file compose.yaml --output json', ...COMPILING])
    const later = [...loaded.keys()].filter(name => !start.includes(name))
    const [mark] = readFile('devctl.cjs').match(/^.*?\*\//)
    const names = later.map(name => `${JSON.stringify(name)}:"compile.pack"`)
    writeFileSync(join(bin, 'start.pack'), `${mark}({${[...start.map(inPack), ...names]}})`)
    writeFileSync(join(bin, 'compile.pack'), `({${later.map(inPack)}})`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readFile(name) {
  return readFileSync(join(bin, name), 'latin1')
}

/** Returns a member of the object of a pack: without parentheses, V8 compiles a function when it is called. */
function inPack(name) {
  return `${JSON.stringify(name)}:${readFile(name)
    .replace(/^\/\*.*?\*\//, '')
    .slice(1, -1)}\n`
}

/** The streams of a command whose output nobody reads. */
function standInIo(env, input) {
  const nobody = { isTTY: false, write: () => true }
  const readStdin = async () => Buffer.from(input)
  return { stdout: nobody, stderr: nobody, readStdin, env, cwd: join(root, 'examples/voting') }
}

async function runAll(program, io, commands) {
  for (const words of commands)
    if ((await program.main(words.split(' '), io)) !== 0) throw new Error(`devctl ${words} failed`)
}

/** Runs the commands of a copy of the program once, so that what they need is compiled, and writes it down. */
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
  for (const [name, { script }] of scripts)
    writeFileSync(join(copy, 'dist/bin', `${name}.cache`), script.createCachedData())
}

/** Builds a Dockerfile with a stand-in for BuildKit, and an image that the registry has. */
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

/** Publishes, where there is a git to do it with: without, the program is as good, and that command a little slower. */
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
