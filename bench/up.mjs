// Speed of a development container, with the built program and the cluster of KUBECONFIG, compared with `kubectl exec`
// with tar: `KUBECTL=…` if kubectl is not on the PATH. It creates its own namespace. Laptop and cluster should be one
// machine, or share one clock. `npm run bench -- up checkout idle` measures only these parts.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './measure.mjs'
import { printGoals } from './tables.mjs'

const FILES = Number(process.env.FILES ?? 10_000)
const LARGE = Number(process.env.LARGE ?? 500) << 20
const SAVES = Number(process.env.SAVES ?? 100)
const CHECKOUT = 2_000
const IDLE = 28_000
/** Files that are deleted and written again before: a day of work leaves more memory in use than a start. */
const CHURN = 5_000
const IDLE_SECONDS = 30
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
/** Prints the time at which each new content of a file appears. */
const WATCHER = `const fs = require('fs'); fs.writeFileSync('/app/saved.txt', ''); let last = ''
fs.watch('/app/saved.txt', () => { const text = fs.readFileSync('/app/saved.txt', 'utf8').slice(0, 8)
if (text && text !== last) { last = text; console.log(text + ' ' + Date.now()) } })
console.log('watching')`

/** A program that reads what comes, and says so when it was as much as a large file has. */
const SINK = `let left = ${LARGE}
require('net').createServer(line => line.on('data', part => (left -= part.length) > 0 || line.end('all'))).listen(7777, '127.0.0.1')
console.log('listens')`

/** Waits until all files of a checkout have their new mark, and prints the time. */
const CHECKED_OUT = `const fs = require('fs'); let mark = ''; let left = new Set()
const look = name => { try { if (fs.readFileSync('/app/' + name, 'latin1').startsWith(mark)) left.delete(name) } catch {}
if (mark && left.size === 0) { console.log(mark + ' ' + Date.now()); mark = '' } }
const names = Array.from({ length: ${CHECKOUT} }, (_, n) => 'folder-' + n % 50 + '/' + n + '.js')
for (let n = 0; n < 50; n++) fs.watch('/app/folder-' + n, (_, name) => mark && look('folder-' + n + '/' + name))
setInterval(() => { for (const name of left) { if (!mark) break; look(name) } }, 100)
process.stdin.on('data', text => { left = new Set(names); mark = String(text).trim() })
console.log('watching')`

/** Each part begins with an empty project that is not up, and gives rows of a table and goals. */
const PARTS = {
  async saves() {
    const first = timed(() => devctl('up', '--detach'))
    const saves = await measureSaves()
    const tar = measureTar()
    const [p50, p90, p99] = [0.5, 0.9, 0.99].map(q => quantile(saves, q))
    return {
      rows: [
        ['save → visible, p50 / p90 / p99', `${[p50, p90, p99].map(one => one.toFixed(1)).join(' / ')} ms`],
        ['`kubectl exec tar`, one file', `${median(tar).toFixed(0)} ms`],
      ],
      goals: [
        ['images there: `up` until it is in sync, s', first / 1000, 4, 's'],
        ['save → visible in the container, p50', p50, 15, 'ms'],
        ['the same, against `kubectl exec tar`', p50 / median(tar), 0.1, ''],
        ['the same, p99 against p50', p99 / p50, 5, ''],
      ],
    }
  },

  async files() {
    makeFiles()
    devctl('up', '--detach')
    const sent = firstSync()
    const plain = timed(() => tarInto('/tmp/plain', '.'))
    devctl('down')
    devctl('up', '--detach')
    return {
      rows: [
        [`${FILES} files, first sync`, seconds(sent)],
        ['`tar \\| kubectl exec tar`', seconds(plain)],
      ],
      goals: [
        [`${FILES} files, first sync, against \`tar | kubectl exec tar\``, sent / plain, 1.1, ''],
        ['nothing changed: from the agent until in sync, s', firstSync() / 1000, 1.5, 's'],
      ],
    }
  },

  async large() {
    devctl('up', '--detach')
    const { sent, plain, bare, delta } = await measureLarge()
    return {
      rows: [
        [`${LARGE >> 20} MB file`, seconds(sent)],
        ['`kubectl exec cat`', seconds(plain)],
        ['a forwarded port by itself', seconds(bare)],
      ],
      goals: [
        [`${LARGE >> 20} MB file, against \`kubectl exec cat\``, sent / plain, 1, ''],
        ['the same, against a forwarded port by itself', sent / bare, 1.5, ''],
        ['one byte of it changed, MB sent', delta, 1, 'MB'],
      ],
    }
  },

  async checkout() {
    const files = join(project, 'files')
    const git = (...words) => run('git', ['-C', files, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words])
    git('init', '--quiet', '--initial-branch=one')
    for (const branch of ['one', 'two']) {
      if (branch === 'two') git('checkout', '--quiet', '-b', branch)
      for (let n = 0; n < CHECKOUT; n++) {
        mkdirSync(join(files, `folder-${n % 50}`), { recursive: true })
        const text = `${branch}\n${randomBytes(1_500).toString('hex')}\n`
        writeFileSync(join(files, `folder-${n % 50}`, `${n}.js`), text)
      }
      git('add', '--all')
      git('commit', '--quiet', '--message', branch)
    }
    devctl('up', '--detach')
    const watcher = spawn(process.execPath, [program, 'exec', '--', 'node', '-e', CHECKED_OUT], { cwd: project, env })
    const lines = createInterface({ input: watcher.stdout })[Symbol.asyncIterator]()
    await lines.next()
    const [all, own, late] = [[], [], []]
    for (const branch of ['one', 'two', 'one', 'two', 'one']) {
      watcher.stdin.write(`${branch}\n`)
      await sleep(1500)
      const began = Date.now()
      own.push(timed(() => git('checkout', '--quiet', branch)))
      const ended = Date.now()
      const [, at] = (await lines.next()).value.split(' ')
      all.push(Number(at) - began)
      late.push(Math.max(0, Number(at) - ended))
    }
    watcher.kill()
    return {
      rows: [
        [`\`git checkout\` of ${CHECKOUT} files by itself`, seconds(median(own))],
        ['from its start until the last file is visible', seconds(median(all))],
      ],
      goals: [
        [
          `\`git checkout\` of ${CHECKOUT} files: from its end until the last is visible, s`,
          median(late) / 1000,
          1,
          's',
        ],
      ],
    }
  },

  async idle() {
    const pathOf = n => join(project, 'files', `folder-${n % 500}`, `${n}.txt`)
    for (let n = 0; n < 500; n++) mkdirSync(join(project, 'files', `folder-${n}`), { recursive: true })
    for (let n = 0; n < IDLE; n++) writeFileSync(pathOf(n), `file ${n}\n`)
    devctl('up', '--detach')
    await settled()
    for (let n = 0; n < CHURN; n++) rmSync(pathOf(n))
    await sleep(2000)
    await settled()
    for (let n = 0; n < CHURN; n++) writeFileSync(pathOf(n), `file ${n}, again\n`)
    await sleep(2000)
    await settled()
    await sleep(15_000)
    const { process: laptop } = await report()
    const mine = () =>
      usage(readFileSync(`/proc/${laptop}/stat`, 'utf8'), readFileSync(`/proc/${laptop}/status`, 'utf8'))
    const agents = () => {
      const both = ['cat', '/proc/1/stat', '/proc/1/status']
      const text = run(kubectl, ['exec', '-n', namespace, pod(), '-c', 'devctl-agent', '--', ...both])
      return usage(text, text)
    }
    const before = [mine(), agents()]
    const began = performance.now()
    await sleep(IDLE_SECONDS * 1000)
    const after = [mine(), agents()]
    const spent = performance.now() - began
    const [own, agent] = after.map(({ cpu }, n) => (100 * (cpu - before[n].cpu)) / spent)
    return {
      rows: [],
      goals: [
        [`idle with ${IDLE} files: processor, this machine, %`, own, 0.3, '%'],
        ['the same, agent', agent, 0.3, '%'],
        ['the same: memory, this machine', after[0].memory, 120, 'MB'],
        ['the same, agent', after[1].memory, 80, 'MB'],
      ],
    }
  },

  async killed() {
    for (let n = 0; n < 200; n++) writeFileSync(join(project, 'files', `${n}.txt`), `file ${n}\n`)
    devctl('up', '--detach')
    const [late, down] = [[], []]
    for (let n = 0; n < 3; n++) {
      const { pod: old } = await report()
      const began = Date.now()
      const ready = nextReady(old)
      run(kubectl, ['delete', 'pod', '-n', namespace, old, '--force', '--grace-period=0', '--wait=false'])
      writeFileSync(join(project, 'files/saved.txt'), `while it was gone ${n}\n`)
      let at
      for (;;) {
        const { state, sync, pod: now } = await report()
        at = Date.now()
        if (state === 'ready' && sync.percent === 100 && now !== old) break
        await sleep(20)
      }
      const there = run(kubectl, ['exec', '-n', namespace, pod(), '-c', 'api', '--', 'cat', '/app/saved.txt'])
      if (!there.includes(`gone ${n}`)) throw new Error('what was saved while the Pod was gone is not there')
      late.push(at - (await ready))
      down.push(at - began)
    }
    return {
      rows: [['Pod killed → in sync again', seconds(median(down))]],
      goals: [['Pod killed: from Ready until in sync, s', Math.max(0, median(late)) / 1000, 1, 's']],
    }
  },
}

const chosen = process.argv.slice(3)
for (const one of chosen)
  if (!(one in PARTS)) throw new Error(`\`${one}\` must be one of ${Object.keys(PARTS).join(', ')}`)

mkdirSync(project, { recursive: true })
writeFileSync(join(project, 'compose.yaml'), COMPOSE)
writeFileSync(join(project, 'devctl.yml'), MANIFEST)
run(kubectl, ['create', 'namespace', namespace])
try {
  mkdirSync(join(project, 'files'))
  devctl('deploy', '--wait')
  const [rows, goals] = [[], []]
  for (const name of chosen.length > 0 ? chosen : Object.keys(PARTS)) {
    rmSync(join(project, 'files'), { recursive: true, force: true })
    mkdirSync(join(project, 'files'))
    const measured = await PARTS[name]()
    rows.push(...measured.rows)
    goals.push(...measured.goals)
    devctl('down', '--volumes')
  }
  console.log('| what | measured |\n|---|---:|')
  for (const [what, measured] of rows) console.log(`| ${what} | ${measured} |`)
  printGoals(goals)
} finally {
  spawnSync(process.execPath, [program, 'down'], { cwd: project, env })
  spawnSync(kubectl, ['delete', 'namespace', namespace, '--wait=false'])
  rmSync(folder, { recursive: true, force: true })
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(2)} s`
}

/** Milliseconds of processor time and MB of memory, as `/proc` has them. */
function usage(stat, status) {
  const [user, system] = stat
    .slice(stat.indexOf(') ') + 2)
    .split(' ')
    .slice(11, 13)
  return { cpu: 10 * (Number(user) + Number(system)), memory: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1000 }
}

/** The time at which a Pod other than the old one is ready. */
function nextReady(old) {
  const ready = '{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}'
  const words = ['get', 'pods', '-n', namespace, '-l', 'dev.platform/mirror', '--watch', '-o', `jsonpath=${ready}`]
  const watch = spawn(kubectl, words)
  return new Promise(resolve => {
    createInterface({ input: watch.stdout }).on('line', line => {
      if (line.startsWith(old) || !line.endsWith(' True')) return
      watch.kill()
      resolve(Date.now())
    })
  })
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
  const sentBefore = (await report()).sync.sentBytes
  // It comes into the folder at once: to write it takes both programs' time as much as to send it.
  writeFileSync(join(project, 'large.bin'), bytes)
  let began = performance.now()
  renameSync(join(project, 'large.bin'), path)
  await settled()
  const sent = performance.now() - began
  const before = (await report()).sync.sentBytes
  if (before - sentBefore < LARGE / 2) throw new Error('the large file was not sent')
  bytes[LARGE >> 1] ^= 1
  writeFileSync(path, bytes)
  await settled()
  const delta = ((await report()).sync.sentBytes - before) / 1e6
  began = performance.now()
  run('sh', ['-c', `'${kubectl}' exec -i -n ${namespace} ${pod()} -c api -- sh -c 'cat > /tmp/large' < '${path}'`])
  const plain = performance.now() - began
  return { sent, delta, plain, bare: await measureForward() }
}

/** Milliseconds of as many bytes over a forwarded port to a program that does nothing with them: the floor. */
async function measureForward() {
  const { kubeconfigAccess } = await import('../dist/adapters/kubernetes/connection.js')
  const { openPortForward } = await import('../dist/adapters/kubernetes/port-forward.js')
  const words = ['exec', '-n', namespace, pod(), '-c', 'api', '--', 'node', '-e', SINK]
  const sink = spawn(kubectl, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(sink.stdout, 'data')
    const access = await kubeconfigAccess(undefined, process.env)
    const line = await openPortForward(access, { pod: pod().replace('pod/', ''), namespace, port: 7777 })
    const bytes = randomBytes(1 << 20)
    const began = performance.now()
    for (let sent = 0; sent < LARGE; sent += bytes.length) if (!line.write(bytes)) await once(line, 'drain')
    await once(line, 'data')
    return performance.now() - began
  } finally {
    sink.kill()
  }
}

/** Reads the report of the running session over its socket: another process would take time from the measured one. */
async function report() {
  const [name] = readdirSync(join(env.DEVCTL_HOME, 'run')).filter(one => one.endsWith('.sock'))
  const socket = connect(join(env.DEVCTL_HOME, 'run', name))
  try {
    socket.write('{"ask":"report"}\n')
    for await (const line of createInterface({ input: socket })) return JSON.parse(line).report
  } finally {
    socket.destroy()
  }
}

/** Waits until something was to be done, and nothing is left. */
async function settled() {
  for (let idle = 0; idle < 3; ) {
    idle = (await report()).sync.percent === 100 ? idle + 1 : 0
    await sleep(50)
  }
}
