import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AgentConfig } from '../../../agent/config.ts'
import { lacks } from '../../support/lacks.ts'
import { type Bench, startBench, until } from '../../support/sync/agent-process.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { inNamespace, lacksNamespaces } from './own-limits.ts'

// The agent reports faults on its side, does not exit, and continues when they are over.

async function open(settings: Partial<AgentConfig> = {}): Promise<Bench> {
  const bench = await startBench(settings)
  onTestFinished(() => bench.close())
  return bench
}

/** User of the agent; the volume belongs to another user until the agent has become this one. */
const user = { uid: 1000, gid: 1000 }

const isNotRoot = lacks('root', process.getuid?.() !== 0)

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

const attach = async (one: Bench) => {
  const engine = one.engine()
  const key = Buffer.from(one.config.key, 'hex')
  return { engine, again: async () => engine.attach(await one.connect(), key) }
}

/** Expects that the laptop receives the reason, and that the sync succeeds once `mend` has removed the fault. */
async function toldThenSynced(one: Bench, reason: RegExp, mend: () => void): Promise<void> {
  write(one.local, 'a.txt', 'one')
  const { engine, again } = await attach(one)
  for (let time = 0; time < 2; time++) expect((await (await again()).ended).message).toMatch(reason)
  mend()
  await (await again()).synced
  expect(engine.status()).toMatchObject({ state: 'synced', files: 1, problems: [] })
}

test.skipIf(isNotRoot)('the agent reports that its own folder belongs to another user', async () => {
  const bench = await open({ user })
  const stage = join(bench.config.volume, '.devctl/stage')
  mkdirSync(stage, { recursive: true, mode: 0o700 })
  const agent = await bench.startAgent()
  await toldThenSynced(bench, /cannot go on: permission denied: .*\.devctl\/stage/, () => chownSync(stage, 1000, 1000))
  expect(agent.exitCode).toBeNull()
})

test('the agent reports a file in place of its own folder', async () => {
  const bench = await open()
  const place = join(bench.config.volume, '.devctl')
  writeFileSync(place, '')
  const agent = await bench.startAgent()
  await toldThenSynced(bench, /cannot go on: .*\.devctl/, () => rmSync(place))
  expect(agent.exitCode).toBeNull()
})

if (TAKES_ALL) {
  test.skipIf(isNotRoot)('the agent reports that it may not write the ready file', async () => {
    const bench = await open({ user })
    const run = dirname(bench.ready)
    chownSync(run, 0, 0)
    const agent = await bench.startAgent()
    await toldThenSynced(bench, /cannot go on: permission denied: .*run\/ready/, () => chownSync(run, 1000, 1000))
    expect(existsSync(bench.ready)).toBe(true)
    expect(agent.exitCode).toBeNull()
  })

  test.skipIf(isNotRoot)('the agent reports a new image that it cannot take over', async () => {
    const bench = await open({ user })
    const fresh = join(bench.config.volume, '.devctl/new-0')
    write(fresh, 'lib/a.js', 'of the image')
    writeFileSync(`${fresh}.image`, 'two')
    const agent = await bench.startAgent()
    await toldThenSynced(bench, /cannot go on: permission denied: .*\.devctl\/new-0/, () => {
      for (const path of ['', '/lib', '/lib/a.js', '.image']) chownSync(`${fresh}${path}`, 1000, 1000)
    })
    expect(readFileSync(join(bench.remote, 'lib/a.js'), 'utf8')).toBe('of the image')
    expect(agent.exitCode).toBeNull()
  })
}

test.skipIf(isNotRoot)('a folder that the user of the agent cannot read is reported until it is readable', async () => {
  const bench = await open({ user })
  const { remote, local } = bench
  write(remote, 'closed/inside', 'x')
  // The agent's user can list the folder, but cannot access its entries.
  mkdirSync(join(remote, 'listed'), { mode: 0o744 })
  write(remote, 'listed/node_modules/x', 'x')
  chmodSync(join(remote, 'closed'), 0o700)
  write(local, 'a.txt', 'one')
  const agent = await bench.startAgent()
  const { engine, again } = await attach(bench)
  await (await again()).synced
  write(remote, 'listed/target/x', 'x')
  write(local, 'b.txt', 'two')
  await until(() => existsSync(join(remote, 'b.txt')))
  const closed = { folder: '0', path: 'closed', side: 'remote', message: 'permission denied' }
  expect(engine.status().leftOut.paths).toContainEqual(closed)
  chmodSync(join(remote, 'closed'), 0o755)
  await until(() => !engine.status().leftOut.paths.some(({ path }) => path === 'closed'))
  expect(agent.exitCode).toBeNull()
})

longTest('files are synced while another program has the SSH port, and SSH starts once it is free', async () => {
  const taken = createServer()
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number } // it listens on a port
  const bench = await open({ sshPort: port })
  write(bench.local, 'a.txt', 'one')
  const agent = await bench.startAgent()
  const { again } = await attach(bench)
  await (await again()).synced
  expect(agent.exitCode).toBeNull()
  await new Promise(resolve => taken.close(resolve))
  const hello = await until(
    () =>
      new Promise<string | undefined>(resolve => {
        const socket = connect(port, '127.0.0.1')
        socket.on('error', () => resolve(undefined)).once('data', data => resolve(data.toString()))
      }),
  )
  expect(hello).toContain('SSH-2.0-devctl')
})

describe.skipIf(lacksNamespaces)('the disk of the volume', () => {
  const place = (one: Bench, agent: { readonly pid?: number | undefined }) =>
    `/proc/${agent.pid}/root${one.config.volume}`

  longTest('the agent reports a full disk before the first sync', async () => {
    const bench = await open()
    const { volume } = bench.config
    const agent = await bench.startAgent(
      inNamespace(`mount -t tmpfs -o size=64k none ${volume} || exit 9
mkdir -p ${volume}/src/0; head -c 100000 /dev/zero > ${volume}/src/0/large 2>/dev/null`),
    )
    await toldThenSynced(bench, /cannot go on: the disk is full/, () => rmSync(`${place(bench, agent)}/src/0/large`))
    expect(agent.exitCode).toBeNull()
  })

  test('a disk that is full later does not prevent another sync', async () => {
    const bench = await open()
    const { volume } = bench.config
    write(bench.local, 'a.txt', 'one')
    const agent = await bench.startAgent(inNamespace(`mount -t tmpfs -o size=64k none ${volume} || exit 9`))
    const first = await attach(bench)
    const attached = await first.again()
    await attached.synced
    attached.close()
    const inside = place(bench, agent)
    try {
      writeFileSync(`${inside}/large`, Buffer.alloc(100_000))
    } catch {
      // The disk is full now.
    }
    // Folders that are the container's own are noted in the volume.
    mkdirSync(`${inside}/src/0/node_modules`)
    const { engine, again } = await attach(bench)
    await (await again()).synced
    expect(engine.status()).toMatchObject({ filesLeft: 0, files: 1 })
    expect(existsSync(join(bench.local, 'node_modules'))).toBe(false)
    expect(agent.exitCode).toBeNull()
  })

  longTest('the agent reports a read-only disk', async () => {
    const bench = await open()
    const { volume } = bench.config
    const agent = await bench.startAgent(inNamespace(`mount -t tmpfs -o ro none ${volume} || exit 9`))
    write(bench.local, 'a.txt', 'one')
    const { again } = await attach(bench)
    expect((await (await again()).ended).message).toMatch(/cannot go on: the file system is read-only: .*\.devctl/)
    expect(agent.exitCode).toBeNull()
  })
})

test.each(few([24, 32]))('all files arrive with a limit of %d open files', async many => {
  const bench = await open()
  for (let n = 0; n < 300; n++) write(bench.local, `d${n % 30}/f${n}`, `${n}`)
  const agent = await bench.startAgent(['prlimit', `--nofile=${many}`])
  const { engine, again } = await attach(bench)
  await (await again()).synced
  expect(engine.status()).toMatchObject({ state: 'synced', files: 300, problems: [] })
  expect(agent.exitCode).toBeNull()
})
