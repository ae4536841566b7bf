// How fast a development container is, with the built program and the cluster of KUBECONFIG, and beside it `kubectl exec` with tar:
// `KUBECTL=…` if kubectl is not in the path. It makes a namespace of its own. Laptop and cluster should be one machine, or have one clock.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './measure.mjs'
import { printGoals } from './tables.mjs'

const FILES = Number(process.env.FILES ?? 10_000)
const LARGE = Number(process.env.LARGE ?? 500) << 20
const SAVES = Number(process.env.SAVES ?? 100)
const kubectl = process.env.KUBECTL ?? 'kubectl'
const program = join(import.meta.dirname, '../bin/devctl.cjs')
const folder = mkdtempSync(join(tmpdir(), 'devctl-bench-up-'))
const namespace = `bench-up-${process.pid}`
const project = join(folder, 'project')
const env = { ...process.env, DEVCTL_HOME: join(folder, 'home'), DEVCTL_NAMESPACE: namespace }
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))]

const MANIFEST = `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["sleep", "100000"]
    workdir: /app
    sync: ["./files:/app"]
    persistentVolume: {size: 5Gi}
`
const COMPOSE = `name: bench
services:
  api: {image: "node:22-alpine", command: ["sleep", "100000"], stop_grace_period: 1s, working_dir: /app, user: "1000:1000"}
`
/** Prints the time at which each new content of a file is there. */
const WATCHER = `const fs = require('fs'); fs.writeFileSync('/app/saved.txt', ''); let last = ''
fs.watch('/app/saved.txt', () => { const text = fs.readFileSync('/app/saved.txt', 'utf8').slice(0, 8)
if (text && text !== last) { last = text; console.log(text + ' ' + Date.now()) } })
console.log('watching')`

mkdirSync(join(project, 'files'), { recursive: true })
writeFileSync(join(project, 'compose.yaml'), COMPOSE)
writeFileSync(join(project, 'devctl.yml'), MANIFEST)
run(kubectl, ['create', 'namespace', namespace])
try {
  const goals = []
  devctl('deploy', '--wait')
  const first = timed(() => devctl('up', '--detach'))
  goals.push(['images there: `up` until it is in sync, s', first / 1000, 4, 's'])
  const saves = await measureSaves()
  const tar = measureTar()
  goals.push(
    ['save → visible in the container, p50', quantile(saves, 0.5), 15, 'ms'],
    ['the same, against `kubectl exec tar`', quantile(saves, 0.5) / median(tar), 0.1, ''],
    ['the same, p99 against p50', quantile(saves, 0.99) / quantile(saves, 0.5), 5, ''],
  )
  devctl('down', '--volumes')
  makeFiles()
  devctl('up', '--detach')
  const sent = firstSync()
  const plain = timed(() => tarInto('/tmp/plain', '.'))
  goals.push([`${FILES} files, first sync, against \`tar | kubectl exec tar\``, sent / plain, 1.1, ''])
  devctl('down')
  devctl('up', '--detach')
  goals.push(['nothing changed: from the agent until in sync, s', firstSync() / 1000, 1.5, 's'])
  const large = await measureLarge()
  goals.push([`${LARGE >> 20} MB file, against \`kubectl exec cat\``, large.sent / large.plain, 0.7, ''])
  goals.push(['one byte of it changed, MB sent', large.delta, 1, 'MB'])
  console.log(`| what | measured |\n|---|---:|
| save → visible, p50 / p90 / p99 | ${[0.5, 0.9, 0.99].map(q => quantile(saves, q).toFixed(1)).join(' / ')} ms |
| \`kubectl exec tar\`, one file | ${median(tar).toFixed(0)} ms |
| ${FILES} files, first sync | ${(sent / 1000).toFixed(2)} s |
| \`tar \\| kubectl exec tar\` | ${(plain / 1000).toFixed(2)} s |
| ${LARGE >> 20} MB file | ${(large.sent / 1000).toFixed(2)} s |
| \`kubectl exec cat\` | ${(large.plain / 1000).toFixed(2)} s |`)
  printGoals(goals)
} finally {
  spawnSync(process.execPath, [program, 'down'], { cwd: project, env })
  spawnSync(kubectl, ['delete', 'namespace', namespace, '--wait=false'])
  rmSync(folder, { recursive: true, force: true })
}

function run(command, words, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8', maxBuffer: 1 << 28, ...options })
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stderr}`)
  return stdout
}

function devctl(...words) {
  return run(process.execPath, [program, ...words], { cwd: project, env })
}

function timed(work) {
  const began = performance.now()
  work()
  return performance.now() - began
}

async function measureSaves() {
  const watcher = spawn(process.execPath, [program, 'exec', '--', 'node', '-e', WATCHER], { cwd: project, env })
  const lines = createInterface({ input: watcher.stdout })[Symbol.asyncIterator]()
  await lines.next()
  await sleep(1000)
  const took = []
  for (let n = 0; n < SAVES; n++) {
    const text = String(n).padStart(8, '0')
    const began = Date.now()
    writeFileSync(join(project, 'files/saved.txt'), `${text}\n${randomBytes(500).toString('hex')}`)
    const [, at] = (await lines.next()).value.split(' ')
    took.push(Math.max(0.5, Number(at) - began))
    await sleep(50)
  }
  watcher.kill()
  return took
}

function pod() {
  const words = [
    'get',
    'pods',
    '-n',
    namespace,
    '-l',
    'dev.platform/mirror',
    '-o',
    'name',
    '--field-selector=status.phase=Running',
  ]
  return run(kubectl, words).trim().split('\n')[0]
}

function tarInto(place, what) {
  const into = `mkdir -p ${place} && tar -C ${place} -xf -`
  const own = `tar -C '${join(project, 'files')}' -cf - '${what}' | '${kubectl}' exec -i -n ${namespace} ${pod()} -c api -- sh -c '${into}'`
  run('sh', ['-c', own])
}

function measureTar() {
  return Array.from({ length: 10 }, () => timed(() => tarInto('/tmp/one', 'saved.txt')))
}

function makeFiles() {
  for (let n = 0; n < FILES; n++) {
    const place = join(project, 'files', `folder-${n % 100}`, `part-${n % 7}`)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, `file-${n}.js`), randomBytes(2_800).toString('hex'))
  }
}

/** Milliseconds of the last session from its connection to the agent until all files were there, by its log. */
function firstSync() {
  const log = readdirSync(env.DEVCTL_HOME, { recursive: true, encoding: 'utf8' }).find(path => path.endsWith('up.log'))
  const lines = readFileSync(join(env.DEVCTL_HOME, log), 'utf8').trim().split('\n')
  const from = lines.findLastIndex(line => line.includes(' api: connecting'))
  const to = lines.findIndex((line, index) => index > from && / api: (starts|runs|ready|runs)/.test(line))
  const time = line => Date.parse(line.split(' ')[0])
  return time(lines[to]) - time(lines[from])
}

async function measureLarge() {
  const path = join(project, 'files/large.bin')
  const bytes = randomBytes(LARGE)
  const sentBefore = status().sync.sentBytes
  let began = performance.now()
  writeFileSync(path, bytes)
  await settled()
  const sent = performance.now() - began
  const before = status().sync.sentBytes
  if (before - sentBefore < LARGE / 2) throw new Error('the large file was not sent')
  bytes[LARGE >> 1] ^= 1
  writeFileSync(path, bytes)
  await settled()
  const delta = (status().sync.sentBytes - before) / 1e6
  began = performance.now()
  run('sh', ['-c', `'${kubectl}' exec -i -n ${namespace} ${pod()} -c api -- sh -c 'cat > /tmp/large' < '${path}'`])
  return { sent, delta, plain: performance.now() - began }
}

function status() {
  return JSON.parse(devctl('status', '--output', 'json'))
}

/** Waits until something was to be done, and nothing is left. */
async function settled() {
  for (let idle = 0; idle < 3; ) {
    idle = status().sync.percent === 100 ? idle + 1 : 0
    await sleep(20)
  }
}
