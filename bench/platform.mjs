// The server of the platform, in this process before the API server of KUBECONFIG, without Pods (`live`), installed
// with Pods (`pods`), in a process of its own with many namespaces (`namespaces`), and its connections to builders
// (`tunnel`). `PARTS=live` chooses. It installs the platform there, so the cluster must be one for tests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { measurePods } from './platform-pods.mjs'
import { devctl } from './program.mjs'
import { printGoals } from './tables.mjs'

const CHANGES = Number(process.env.CHANGES ?? 200)
const CLIENTS = Number(process.env.CLIENTS ?? 1000)
const NAMESPACES = Number(process.env.NAMESPACES ?? 1000)
const parts = new Set((process.env.PARTS ?? 'live,pods,namespaces,tunnel').split(','))
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))]
const mebibytes = () => {
  globalThis.gc?.()
  return process.memoryUsage().rss / 2 ** 20
}
const goals = []
const rows = []

// As the tests open it: with the rights that the server has.
const root = join(import.meta.dirname, '..')
// As deep as the tests are: they look for the server's source from where they are.
const outfile = join(root, 'dist/bench/platform.mjs')
const contents = ['open-platform.ts', 'many-namespaces.ts'].map(name => `export * from './${name}'`).join('\n')
await build({
  stdin: { contents, resolveDir: join(root, 'test/support/platform') },
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'error',
})
const { measureNamespaces, openPlatform, RUN } = await import(outfile)
let platform
if (parts.has('live')) {
  platform = await openPlatform()
  try {
    await live()
    await calls()
  } finally {
    await platform.close()
  }
}
// Prints what was measured before a failure, too.
let failed = parts.has('pods') ? await measurePods(goals, rows).catch(error => error) : undefined
// Last: the cluster is busy with their end for a while.
if (parts.has('namespaces')) failed ??= await memory().catch(error => error)
console.log('| what | measured |\n|---|---:|')
for (const row of rows) console.log(row)
printGoals(goals)
if (failed) console.error(failed)
if (parts.has('tunnel')) {
  const [status] = await once(
    spawn(process.execPath, [join(import.meta.dirname, 'platform-tunnel.mjs')], { stdio: 'inherit' }),
    'exit',
  )
  failed ??= status === 0 ? undefined : new Error('the tunnel was not measured')
}
process.exit(failed ? 1 : 0)

/**
 * Measures the time from a change in the cluster to the event at a client, then the memory for many clients of one
 * login.
 */
async function live() {
  const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
  const ann = await platform.person('bench')
  const labels = { 'dev.platform/environment': 'shop', 'dev.platform/service': 'web' }
  const deployment = image => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: ann.home, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
    },
  })
  const apply = image => platform.cluster.apply(deployment(image), { manager: 'bench', force: true })
  await apply(`web:${RUN}`)
  const waiting = new Map()
  const open = onText =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}/api/v1/namespaces/${ann.home}/live`, {
        headers: { authorization: `Bearer ${ann.token}` },
        agent: false,
      })
      sent.on('error', reject)
      sent.on('response', response => {
        response.setEncoding('utf8').on('data', onText)
        response.on('error', () => {})
        resolve(sent)
      })
      sent.end()
    })
  const first = await open(text => {
    for (const [image, seen] of waiting) if (text.includes(`"${image}"`)) seen()
  })
  const times = []
  for (let change = 0; change < CHANGES; change++) {
    const image = `web:${change}`
    const isSeen = new Promise(resolve => waiting.set(image, resolve))
    // The answer comes when the change is stored.
    await apply(image)
    const began = performance.now()
    await isSeen
    waiting.delete(image)
    times.push(performance.now() - began)
  }
  goals.push(['change in the cluster to an event, p95', quantile(times, 0.95), 300, 'ms'])
  rows.push(`| the same, median of ${CHANGES} | ${quantile(times, 0.5).toFixed(0)} ms |`)
  const before = mebibytes()
  const clients = []
  let behind = 0
  for (let at = 0; at < CLIENTS; at++) clients.push(await open(() => behind++))
  rows.push(
    `| ${clients.length} clients, with their own ends in this process | ${(mebibytes() - before).toFixed(0)} MiB |`,
  )
  for (const client of [first, ...clients]) client.destroy()
}

/** Measures the memory of the server with many namespaces. */
async function memory() {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-bench-'))
  platform = await openPlatform()
  try {
    const { took, resident } = await measureNamespaces(platform, folder, NAMESPACES)
    goals.push([`memory of the server with ${NAMESPACES} namespaces`, resident, 120, 'MiB'])
    rows.push(`| ${NAMESPACES} namespaces are listed | ${took.toFixed(0)} ms |`)
  } finally {
    rmSync(folder, { recursive: true })
    await platform.close()
  }
}

/** Counts the requests that a command sends to the platform when it already has all that it needs. */
async function calls() {
  const url = `http://127.0.0.1:${platform.app.server.address().port}`
  const ann = await platform.person('calls')
  const home = mkdtempSync(join(tmpdir(), 'devctl-bench-'))
  const env = { ...process.env, DEVCTL_HOME: home, KUBECONFIG: join(home, 'none') }
  const command = async (...words) => {
    const child = spawn(process.execPath, [devctl, ...words], { env, cwd: home, stdio: 'ignore' })
    const [status] = await once(child, 'close')
    if (status !== 0) throw new Error(`devctl ${words.join(' ')}: ${status}`)
  }
  try {
    await command('analytics', '--disable')
    await command('context', 'use', url, '--token', ann.token)
    await command('ps', '--name', 'bench')
    const before = platform.requests
    await command('ps', '--name', 'bench')
    goals.push(['calls of the platform before a command, warm', platform.requests - before, 0, ''])
  } finally {
    rmSync(home, { recursive: true })
  }
}
