// Puts the command line and the packages it uses into one file, and keeps the compiled code of a typical run beside it (see bin/devctl.cjs).
// The API for programs (dist/compiler, dist/api) is not bundled.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { standInServer } from './stand-in-server.mjs'

const root = join(import.meta.dirname, '..')

if (process.argv[2] === '--keep-compiled-code') await keepCompiledCode()
else {
  const options = {
    absWorkingDir: root,
    outdir: 'dist/bin',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    minify: true,
    legalComments: 'linked',
    logLevel: 'warning',
    // bin/devctl.cjs runs the program as a script, which cannot import: what is not in the bundle is required.
    supported: { 'dynamic-import': false },
    // The modules are ES modules; in a CommonJS file their place goes by other names.
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' },
  }
  // client-node is three quarters of all code, and only plugins for credentials and proxies need it; ws is for `forward` alone.
  // yaml edits devctl.yml for `gitops secrets`, age-encryption is for the backend `sops`. Every command would pay for reading them.
  const rare = ['@kubernetes/client-node', 'ws', 'yaml', 'age-encryption']
  await build({ ...options, entryPoints: { devctl: 'cli/start.ts' }, plugins: rare.map(apart) })
  await build({ ...options, entryPoints: Object.fromEntries(rare.map(name => [name.split('/').at(-1), name])) })
  // In a process of its own: its code must be as a fresh start of devctl leaves it.
  const { status } = spawnSync(process.execPath, [import.meta.filename, '--keep-compiled-code'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

/** Leaves a package to a file of its own, `dist/bin/NAME.cjs`; the program finds files as bin/devctl.cjs does, which it is a part of. */
function apart(name) {
  const path = `../dist/bin/${name.split('/').at(-1)}.cjs`
  return {
    name: 'apart',
    setup: ({ onResolve }) => onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path, external: true })),
  }
}

/** Runs the commands once, so that what they need is compiled, and writes it down. */
async function keepCompiledCode() {
  const { load, kept } = createRequire(import.meta.url)('../bin/devctl.cjs')
  const { script, program } = load()
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
    await publishOnce(program, io, folder)
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
  writeFileSync(kept, script.createCachedData())
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
