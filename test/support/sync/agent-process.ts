import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { createSshKeyPair } from '../../../adapters/ssh/keys.ts'
import type { AgentConfig } from '../../../agent/config.ts'
import { NO_IGNORES } from '../../../sync/scan/ignore-source.ts'
import { createSync, type SyncEngine, type SyncEvent, type SyncOptions } from '../../../sync/session/sync.ts'
import { root } from '../cases.ts'

/** Folders of a laptop and a volume, and the agent as it runs in a Pod: bundled, in a process of its own. */
export interface Bench {
  readonly folder: string
  readonly local: string
  readonly remote: string
  readonly ready: string
  readonly config: AgentConfig
  readonly events: SyncEvent[]
  /** `under`: a program with arguments that runs it, with another limit or other mounts. */
  startAgent(under?: readonly string[]): Promise<ChildProcess>
  connect(): Promise<Socket>
  engine(options?: Partial<SyncOptions>): SyncEngine
  close(): Promise<void>
}

const bundled = new Map<string, Promise<string>>()

/** A program in one file, bundled once for each process of tests. */
export function bundle(entryPoint: string): Promise<string> {
  const make = async () => {
    const outfile = join(mkdtempSync(join(tmpdir(), 'devctl-bundle-')), 'program.cjs')
    const options = { bundle: true, platform: 'node', target: 'node20.19', format: 'cjs' } as const
    const external = ['cpu-features', '*.node']
    await build({ ...options, absWorkingDir: root, entryPoints: [entryPoint], outfile, external })
    return outfile
  }
  const found = bundled.get(entryPoint) ?? make()
  bundled.set(entryPoint, found)
  return found
}

export async function startBench(settings: Partial<AgentConfig> = {}): Promise<Bench> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-sync-')))
  const [local, volume] = [join(folder, 'local'), join(folder, 'volume')]
  const remote = join(volume, 'src/0')
  for (const one of [local, remote]) mkdirSync(one, { recursive: true })
  const config: AgentConfig = {
    protocol: 1,
    key: randomBytes(32).toString('hex'),
    syncPort: await freePort(),
    sshPort: 0,
    hostKey: createSshKeyPair('host').privateKey,
    userKey: createSshKeyPair('user').publicKey,
    volume,
    folders: [{ name: '0', path: 'src/0' }],
    ready: join(folder, 'run/ready'),
    write: 'auto',
    ...settings,
  }
  const { user } = config
  if (user) {
    // Same as in a Pod, where every user may write to a volume in memory.
    mkdirSync(join(folder, 'run'))
    chownSync(join(folder, 'run'), user.uid, user.gid)
    chmodSync(folder, 0o755)
  }
  const file = join(folder, 'session.json')
  writeFileSync(file, JSON.stringify(config))
  const agent = await bundle('agent/main.ts')
  const children: ChildProcess[] = []
  const engines: SyncEngine[] = []
  const events: SyncEvent[] = []
  const bench: Bench = {
    folder,
    local,
    remote,
    ready: config.ready,
    config,
    events,
    startAgent: async (under = []) => {
      const [program, ...words] = [...under, process.execPath, agent, file]
      const child = spawn(program!, words, { stdio: ['ignore', 'inherit', 'inherit'] })
      children.push(child)
      ;(await bench.connect()).destroy()
      return child
    },
    connect: () => until(() => dial(config.syncPort)),
    engine: options => {
      const engine = createSync({
        folders: [{ name: '0', local, ignores: NO_IGNORES }],
        stateFolder: join(folder, 'state'),
        direction: 'both',
        compression: true,
        rescanInterval: 300,
        reset: false,
        on: event => events.push(event),
        ...options,
      })
      engines.push(engine)
      return engine
    },
    close: async () => {
      for (const engine of engines) await engine.close()
      for (const child of children) child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return bench
}

function dial(port: number): Promise<Socket | undefined> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.setNoDelay(true)
    socket.on('error', () => resolve(undefined))
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Looks again and again until there is something. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  seconds = 10,
): Promise<T> {
  const end = Date.now() + seconds * 1_000
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`it has not happened within ${seconds} seconds`)
    await sleep(3)
  }
}
