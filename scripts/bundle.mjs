// Puts the command line and the packages it uses into files of which each command loads what it needs,
// and keeps the compiled code of typical runs beside them (see bin/devctl.cjs).
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { build, transform } from 'esbuild'
import { bundleLibrary, NATIVE } from './bundle-library.mjs'
import { bundleWeb } from './bundle-web.mjs'
import { standInServer } from './stand-in-server.mjs'

const root = join(import.meta.dirname, '..')
const output = { minify: true, platform: 'node', target: 'node20.19' }

if (process.argv[2] === '--keep-compiled-code') await keepCompiledCode(process.argv[3] ?? root)
else {
  await bundle()
  await bundleAgent()
  await bundlePlatform()
  await bundleWeb()
  await bundleLibrary()
  // In a process of its own: its code must be as a fresh start of devctl leaves it.
  const { status } = spawnSync(process.execPath, [import.meta.filename, '--keep-compiled-code'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

/**
 * Writes a file that starts the program, and one for each module that is imported by `import()`; what
 * several of them need is in files that they share.
 */
async function bundle() {
  const { outputFiles, metafile } = await build({
    ...output,
    absWorkingDir: root,
    logLevel: 'warning',
    entryPoints: { devctl: 'cli/start.ts' },
    outdir: 'dist/bin',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    legalComments: 'linked',
    // The files become scripts, in which the path of a module has other names.
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' },
    metafile: true,
    write: false,
    external: NATIVE,
    plugins: [membersAtOnce()],
  })
  const folder = join(root, 'dist/bin')
  // Removes parts of earlier builds, whose names have other hashes, and compiled code, which V8 takes for that of any
  // file of the same length.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // Compiled code is kept by this name, since the names of files do not tell builds apart.
  const content = createHash('sha256')
  for (const { text } of outputFiles) content.update(text)
  const id = content.digest('hex').slice(0, 16)
  for (const { path, text } of outputFiles) {
    const entry = metafile.inputs[metafile.outputs[relative(root, path)].entryPoint]
    const mark = basename(path) === 'devctl.cjs' ? `/* build ${id} */` : ''
    writeFileSync(path, path.endsWith('.cjs') ? mark + (await toFunction(text, entry?.format)) : text)
  }
}

/** The program that runs in the Pod, in one file: a Secret holds it, beside a stock Node.js. */
async function bundleAgent() {
  await build({
    ...output,
    absWorkingDir: root,
    logLevel: 'warning',
    entryPoints: ['agent/main.ts'],
    outfile: 'dist/agent/agent.cjs',
    bundle: true,
    format: 'cjs',
    legalComments: 'inline',
    external: NATIVE,
  })
}

/**
 * The server of the platform, and the program of its runs, each in one file: their images have a stock Node.js and
 * this.
 */
async function bundlePlatform() {
  await build({
    ...output,
    absWorkingDir: root,
    logLevel: 'warning',
    entryPoints: { server: 'platform/server/main.ts', runner: 'platform/runner/main.ts' },
    outdir: 'dist/platform',
    outExtension: { '.js': '.cjs' },
    target: 'node22',
    bundle: true,
    format: 'cjs',
    legalComments: 'inline',
    external: NATIVE,
  })
}

/**
 * Makes a file the function that bin/devctl.cjs calls: esbuild splits ES modules only, and Node keeps
 * the compiled code of scripts only. Of a CommonJS package esbuild exports nothing but `default`; its
 * names must be there too, as they are in Node.
 */
async function toFunction(text, format) {
  const options = { ...output, logLevel: 'error', format: 'cjs', supported: { 'dynamic-import': false } }
  const { code } = await transform(text, options)
  const names = format === 'cjs' ? 'module.exports = module.exports.default' : ''
  return `(function (exports, require, module, __filename, __dirname) {${code}${names}})`
}

/**
 * cdk8s leaves out the undefined members of an object by copying the object once for each member. The
 * program makes one copy.
 */
function membersAtOnce() {
  const copying = 'Object.entries(result).reduce((r, i) => (i[1] === undefined) ? r : ({ ...r, [i[0]]: i[1] }), {})'
  const contentsOf = path => {
    const [before, ...others] = readFileSync(path, 'utf8').split(copying)
    if (others.length === 0) throw new Error(`${path} does not copy objects this way: remove membersAtOnce`)
    return `${[before, ...others].join('definedMembers(result)')}\n${definedMembers}`
  }
  return {
    name: 'members-at-once',
    setup({ onLoad }) {
      onLoad({ filter: /cdk8s-plus-\d+\/lib\/imports\/k8s\.js$/ }, ({ path }) => ({ contents: contentsOf(path) }))
    },
  }
}

function definedMembers(object) {
  const defined = {}
  for (const name in object) if (object[name] !== undefined) defined[name] = object[name]
  return defined
}

/** Runs the commands of a copy of the program once, so that what they need is compiled, and writes it down. */
async function keepCompiledCode(copy) {
  const { load, loaded } = createRequire(import.meta.url)(join(copy, 'bin/devctl.cjs'))
  const program = load('devctl.cjs')
  const server = await standInServer()
  const folder = mkdtempSync(join(tmpdir(), 'devctl-build-'))
  try {
    const nobody = { isTTY: false, write: () => true }
    const io = {
      stdout: nobody,
      stderr: nobody,
      readStdin: async () => Buffer.from('services: {web: {image: nginx, ports: ["80"]}, api: {image: nginx}}'),
      env: { HOME: folder, DEVCTL_HOME: folder, KUBECONFIG: kubeconfigFor(server.port, folder) },
      cwd: join(root, 'examples/voting'),
    }
    for (const words of [
      '--help',
      'config --format json',
      'render --namespace shop --domain dev.example.com',
      'validate',
      'deploy --file - --name shop',
      'deploy --file - --name shop',
    ])
      if ((await program.main(words.split(' '), io)) !== 0) throw new Error(`devctl ${words} failed`)
    await buildOnce(program, io, folder, `127.0.0.1:${server.port}`)
    await publishOnce(program, io, folder)
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
  for (const { file, script } of loaded.values()) writeFileSync(`${file}.cache`, script.createCachedData())
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
    for (const words of [`build --file Dockerfile --tag ${registry}/web:1 .`, `build --registry ${registry}`])
      if ((await program.main(words.split(' '), world)) !== 0) throw new Error(`devctl ${words} failed`)
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
