// How fast the sync is by itself, laptop and agent on this machine and a TCP connection between them: no cluster. Beside it `tar | tar`.
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
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSshKeyPair } from '../dist/adapters/ssh/keys.js'
import { NO_IGNORES } from '../dist/sync/ignore-source.js'
import { createSync } from '../dist/sync/sync.js'

const FILES = Number(process.env.FILES ?? 10_000)
const SAVES = Number(process.env.SAVES ?? 200)
const LARGE = Number(process.env.LARGE ?? 500) << 20
const IDLE_FILES = Number(process.env.IDLE_FILES ?? 50_000)

const folder = mkdtempSync(join(tmpdir(), 'devctl-bench-'))
const rows = []
const row = (what, ours, beside = '') => rows.push(`| ${what} | ${ours} | ${beside} |`)
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))]
const seconds = since => `${((performance.now() - since) / 1000).toFixed(2)} s`

try {
  for (const part of (process.env.PARTS ?? 'first,saves,large,idle').split(','))
    await { first: firstSync, saves, large: largeFile, idle }[part]()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(['| what | devctl | beside it |', '|---|---|---|', ...rows].join('\n'))

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
  const agent = spawn(process.execPath, [...(process.env.AGENT_OPTIONS?.split(' ') ?? []), program, file], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
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
  const place = await start('many')
  makeFiles(place.local, FILES)
  const tar = join(folder, 'tar')
  mkdirSync(tar)
  spawnSync('sh', ['-c', `tar -C '${place.local}' -cf - . | tar -C '${tar}' -xf -`])
  rmSync(tar, { recursive: true })
  mkdirSync(tar)
  const began = performance.now()
  spawnSync('sh', ['-c', `tar -C '${place.local}' -cf - . | tar -C '${tar}' -xf -`])
  const beside = seconds(began)
  rmSync(tar, { recursive: true })
  const session = await run(place)
  row(`first sync of ${FILES} files`, seconds(session.began), `tar \\| tar: ${beside}`)
  await session.stop()
  const again = await run(place)
  row('the same, nothing changed', seconds(again.began))
  await again.stop()
}

async function saves() {
  const place = await start('saves')
  writeFileSync(join(place.local, 'a.js'), 'x'.repeat(1024))
  const session = await run(place)
  for (const [what, from, to] of [
    ['laptop to container', place.local, place.remote],
    ['container to laptop', place.remote, place.local],
  ]) {
    const times = []
    for (let n = 0; n < SAVES; n++) {
      const text = `${what} ${n} ${'x'.repeat(1000)}`
      const seen = visible(join(to, 'a.js'), to, text)
      const began = performance.now()
      writeFileSync(join(from, 'a.js'), text)
      await seen
      times.push(performance.now() - began)
      await sleep(15)
    }
    row(`save, ${what}`, `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`)
  }
  const began = performance.now()
  for (let n = 0; n < 2_000; n++) writeFileSync(join(place.local, `checkout-${n}.js`), `${n}`.repeat(200))
  const written = performance.now()
  await session.attached.settled()
  row(
    '2,000 files at once, after the last was written',
    seconds(written),
    `writing them: ${((written - began) / 1000).toFixed(2)} s`,
  )
  await session.stop()
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
  const copied = performance.now()
  spawnSync('sh', ['-c', `cat '${file}' | cat > '${folder}/copy'`])
  const beside = seconds(copied)
  rmSync(`${folder}/copy`)
  const session = await run(place)
  row(`a file of ${LARGE >> 20} MB`, seconds(session.began), `cat \\| cat: ${beside}`)
  const before = session.engine.status().sentBytes
  const began = performance.now()
  const again = openSync(file, 'r+')
  writeSync(again, Buffer.from('?'), 0, 1, LARGE >> 1)
  closeSync(again)
  await session.attached.settled()
  const sent = session.engine.status().sentBytes - before
  row('one byte of it changed', `${seconds(began)}, ${(sent / 1024).toFixed(0)} KiB sent`)
  await session.stop()
}

async function idle() {
  const place = await start('idle')
  makeFiles(place.local, IDLE_FILES)
  const session = await run(place)
  await sleep(5_000)
  globalThis.gc?.()
  const [own, agent] = [cpu(process.pid), cpu(session.agent.pid)]
  await sleep(10_000)
  const used = (pid, before) => `${(((cpu(pid) - before) / 10) * 1).toFixed(2)} % CPU, ${memory(pid)} MB`
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

async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}
