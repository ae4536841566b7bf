// Speed of the sync by itself, with laptop and agent on this machine and a TCP connection between them: no cluster.
// Compared with `tar | tar`, `cat | cat` and, if it is installed, Syncthing with the settings of Okteto.
// `PARTS=first,saves,large,written,idle` selects parts.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSshKeyPair } from '../dist/adapters/ssh/keys.js'
import { NO_IGNORES } from '../dist/sync/scan/ignore-source.js'
import { createSync } from '../dist/sync/session/sync.js'
import { median } from './measure.mjs'
import { freePort, startSyncthing } from './syncthing.mjs'
import { printGoals } from './tables.mjs'

const FILES = Number(process.env.FILES ?? 10_000)
const SAVES = Number(process.env.SAVES ?? 200)
const LARGE = Number(process.env.LARGE ?? 500) << 20
const IDLE_FILES = Number(process.env.IDLE_FILES ?? 50_000)
const ROUNDS = Number(process.env.ROUNDS ?? 3)

const folder = mkdtempSync(join(tmpdir(), 'devctl-bench-'))
const rows = []
const goals = []
const row = (what, ours, beside = '', peer = '') => rows.push(`| ${what} | ${ours} | ${beside} | ${peer} |`)
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))]
const shown = milliseconds => (milliseconds === undefined ? '' : `${(milliseconds / 1000).toFixed(2)} s`)

try {
  for (const part of (process.env.PARTS ?? 'first,saves,large,written,idle').split(','))
    await { first: firstSync, saves, large: largeFile, written: writtenFile, idle }[part]()
} finally {
  // Not before: ext4 makes files slowly for minutes after others were deleted.
  rmSync(folder, { recursive: true, force: true })
}
console.log(['| what | devctl | beside it | Syncthing |', '|---|---|---|---|', ...rows].join('\n'))
printGoals(goals)

function makeFiles(root, count) {
  for (let n = 0; n < count; n++) {
    const place = join(root, `folder-${n % 100}`, `part-${n % 7}`)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, `file-${n}.js`), randomBytes(2_800).toString('hex'))
  }
}

async function start(name) {
  const [local, volume] = [join(folder, name, 'local'), join(folder, name, 'volume')]
  const remote = join(volume, 'src/0')
  for (const one of [local, remote]) mkdirSync(one, { recursive: true })
  return { name, local, volume, remote }
}

async function run({ name, local, volume, remote }) {
  const syncPort = await freePort()
  const key = randomBytes(32)
  const file = join(folder, name, 'session.json')
  const keys = { hostKey: createSshKeyPair('host').privateKey, userKey: createSshKeyPair('user').publicKey }
  const ready = join(folder, name, 'run/ready')
  const folders = [{ name: '0', path: 'src/0' }]
  const config = {
    protocol: 1,
    key: key.toString('hex'),
    syncPort,
    sshPort: 0,
    ...keys,
    volume,
    folders,
    ready,
    write: 'auto',
  }
  writeFileSync(file, JSON.stringify(config))
  const program = join(import.meta.dirname, '../dist/agent/agent.cjs')
  const agent = spawn(
    process.execPath,
    ['--max-semi-space-size=2', ...(process.env.AGENT_OPTIONS?.split(' ') ?? []), program, file],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  const socket = await dial(syncPort)
  const began = performance.now()
  const engine = createSync({
    folders: [{ name: '0', local, ignores: NO_IGNORES }],
    stateFolder: join(folder, name, 'state'),
    direction: 'both',
    compression: true,
    rescanInterval: 300,
    reset: false,
    on: () => {},
  })
  const attached = engine.attach(socket, key)
  await attached.synced
  const stop = async () => {
    await engine.close()
    agent.kill('SIGTERM')
  }
  return { began, agent, engine, attached, local, remote, stop }
}

async function firstSync() {
  const source = await start('many')
  makeFiles(source.local, FILES)
  const times = { ours: [], tar: [], again: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const tar = join(folder, `tar-${round}`)
    mkdirSync(tar)
    times.tar.push(shell(`tar -C '${source.local}' -cf - . | tar -C '${tar}' -xf -`))
    const place = { ...(await start(`many-${round}`)), local: source.local }
    for (const kind of ['ours', 'again']) {
      const session = await run(place)
      times[kind].push(performance.now() - session.began)
      await session.stop()
    }
  }
  const [ours, tar, again] = [times.ours, times.tar, times.again].map(median)
  const peer = await syncthing(source.local, FILES * 5_600)
  row(`first sync of ${FILES} files`, shown(ours), `tar \\| tar: ${shown(tar)}`, shown(peer))
  row('the same, nothing changed', shown(again))
  if (peer) goals.push([`first sync of ${FILES} files, against Syncthing`, ours / peer, 0.4, ''])
}

/** Milliseconds that Syncthing needs to have all in the other folder. */
async function syncthing(local, bytes) {
  const place = join(folder, `syncthing-${rows.length}`)
  mkdirSync(join(place, 'volume'), { recursive: true })
  const peer = await startSyncthing(place, local, join(place, 'volume'))
  if (!peer) return undefined
  try {
    const began = performance.now()
    await peer.begin()
    await peer.hasAll(bytes)
    return performance.now() - began
  } finally {
    peer.stop()
    rmSync(join(local, '.stfolder'), { recursive: true })
  }
}

function shell(text) {
  const began = performance.now()
  spawnSync('sh', ['-c', text])
  return performance.now() - began
}

async function saves() {
  const place = await start('saves')
  writeFileSync(join(place.local, 'a.js'), 'x'.repeat(1024))
  const session = await run(place)
  const ours = await saveTimes(place.local, place.remote, SAVES)
  const back = await saveTimes(place.remote, place.local, SAVES)
  const began = performance.now()
  for (let n = 0; n < 2_000; n++) writeFileSync(join(place.local, `checkout-${n}.js`), `${n}`.repeat(200))
  const written = performance.now()
  await session.attached.settled()
  const settled = performance.now() - written
  await session.stop()
  const peer = await syncthingSaves()
  const both = times => `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`
  row('save, laptop to container', both(ours), '', peer && both(peer))
  row('save, container to laptop', both(back))
  row('2,000 files at once, after the last was written', shown(settled), `writing them: ${shown(written - began)}`)
  goals.push(['2,000 files at once, after the last was written', settled / 1000, 1, 's'])
  if (peer) goals.push(['save → visible, p50, against Syncthing', quantile(ours, 0.5) / quantile(peer, 0.5), 0.05, ''])
}

async function syncthingSaves() {
  const place = join(folder, 'syncthing-saves')
  const [local, remote] = ['laptop', 'volume'].map(name => join(place, name))
  for (const one of [local, remote]) mkdirSync(one, { recursive: true })
  writeFileSync(join(local, 'a.js'), 'x'.repeat(1024))
  const peer = await startSyncthing(place, local, remote)
  if (!peer) return undefined
  try {
    await peer.begin()
    await peer.hasAll(1024)
    return await saveTimes(local, remote, Math.min(SAVES, 30))
  } finally {
    peer.stop()
  }
}

async function saveTimes(from, to, count) {
  const times = []
  for (let n = 0; n < count; n++) {
    const text = `${from} ${n} ${'x'.repeat(1000)}`
    const seen = visible(join(to, 'a.js'), to, text)
    const began = performance.now()
    writeFileSync(join(from, 'a.js'), text)
    await seen
    times.push(performance.now() - began)
    await sleep(15)
  }
  return times
}

function visible(file, folder, text) {
  return new Promise(resolve => {
    const watcher = watch(folder, () => {
      let found
      try {
        found = readFileSync(file, 'utf8')
      } catch {
        return
      }
      if (found !== text) return
      watcher.close()
      resolve()
    })
  })
}

async function largeFile() {
  const place = await start('large')
  const file = join(place.local, 'large.bin')
  const opened = openSync(file, 'w')
  for (let at = 0; at < LARGE; at += 1 << 20) writeSync(opened, randomBytes(1 << 20))
  closeSync(opened)
  const times = { ours: [], cat: [], changed: [] }
  let sent
  for (let round = 0; round < ROUNDS; round++) {
    times.cat.push(shell(`cat '${file}' | cat > '${folder}/copy'`))
    rmSync(`${folder}/copy`)
    const session = await run({ ...(await start(`large-${round}`)), local: place.local })
    times.ours.push(performance.now() - session.began)
    const before = session.engine.status().sentBytes
    const began = performance.now()
    const again = openSync(file, 'r+')
    writeSync(again, Buffer.from(`${round}`), 0, 1, LARGE >> 1)
    closeSync(again)
    await session.attached.settled()
    times.changed.push(performance.now() - began)
    sent = session.engine.status().sentBytes - before
    await session.stop()
    rmSync(session.remote, { recursive: true })
  }
  const [ours, cat, changed] = [times.ours, times.cat, times.changed].map(median)
  const peer = await syncthing(place.local, LARGE)
  row(`a file of ${LARGE >> 20} MB`, shown(ours), `cat \\| cat: ${shown(cat)}`, shown(peer))
  row('one byte of it changed', `${shown(changed)}, ${(sent / 1024).toFixed(0)} KiB sent`)
  goals.push([`one byte of ${LARGE >> 20} MB changed`, sent / 1e6, 1, 'MB'])
}

/** The file comes while both sides are in sync: what is sent before it is complete is sent in vain. */
async function writtenFile() {
  const place = await start('written')
  const session = await run(place)
  const file = join(place.local, 'large.bin')
  const program = `const bytes = require('crypto').randomBytes(${LARGE}); console.log('made')
process.stdin.once('data', () => { require('fs').writeFileSync('${file}', bytes); console.log('written'); process.exit() })`
  const writer = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: writer.stdout })[Symbol.asyncIterator]()
  await lines.next()
  const before = session.engine.status().sentBytes
  const began = performance.now()
  writer.stdin.write('\n')
  await lines.next()
  const written = performance.now()
  await session.attached.settled()
  const sent = session.engine.status().sentBytes - before
  const beside = `writing it: ${shown(written - began)}`
  row('a file written meanwhile', `${shown(performance.now() - began)}, ${(sent / 1e6).toFixed(0)} MB sent`, beside)
  goals.push(['sent of a file that is written meanwhile', sent / LARGE, 1.2, ''])
  await session.stop()
}

async function idle() {
  const place = await start('idle')
  makeFiles(place.local, IDLE_FILES)
  const session = await run(place)
  await sleep(5_000)
  const [own, agent] = [cpu(process.pid), cpu(session.agent.pid)]
  await sleep(10_000)
  const used = (pid, before) => `${((cpu(pid) - before) / 10).toFixed(2)} % CPU, ${memory(pid)} MB`
  goals.push([`idle with ${IDLE_FILES} files: agent`, memory(session.agent.pid), 100, 'MB'])
  row(`idle with ${IDLE_FILES} files: laptop`, used(process.pid, own))
  row(`idle with ${IDLE_FILES} files: agent`, used(session.agent.pid, agent))
  await session.stop()
}

/** Ticks of a hundredth of a second. */
function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return Number(fields[11]) + Number(fields[12])
}

function memory(pid) {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024)
}

async function dial(port) {
  for (;;) {
    const socket = await new Promise(resolve => {
      const one = connect(port, '127.0.0.1', () => resolve(one))
      one.on('error', () => resolve(undefined))
    })
    if (socket) return socket.setNoDelay(true)
    await sleep(20)
  }
}
