import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const KEY = 'key-of-the-test'

/** Returns true if Debian's `syncthing` is installed. */
export function hasSyncthing(): boolean {
  try {
    execFileSync('syncthing', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export interface Syncthing {
  /** The paths that it does not ignore, with these lines in `.stignore`; undefined if it refuses them or ends. */
  included(lines: readonly string[], files?: Readonly<Record<string, string>>): Promise<readonly string[] | undefined>
  stop(): void
}

/** Syncthing with one folder of these files, in a home of its own, without the network. */
export async function startSyncthing(paths: readonly string[]): Promise<Syncthing> {
  const work = mkdtempSync(join(tmpdir(), 'devctl-syncthing-'))
  const folder = join(work, 'folder')
  mkdirSync(join(folder, '.stfolder'), { recursive: true })
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), '')
  }
  const port = await freePort()
  mkdirSync(join(work, 'home'))
  writeFileSync(join(work, 'home', 'config.xml'), config(folder, port))
  // As the process that its watcher would start: one that is killed leaves nothing behind.
  const start = () =>
    spawn('syncthing', ['serve', `--home=${join(work, 'home')}`, '--no-browser', '--no-restart'], {
      env: { PATH: process.env.PATH, HOME: join(work, 'home'), STNOUPGRADE: '1', STMONITORED: '1' },
      stdio: 'ignore',
    })
  const ask = async (method: string, path: string, body?: unknown): Promise<Response> =>
    await fetch(`http://127.0.0.1:${port}/rest/${path}`, {
      method,
      headers: { 'X-API-Key': KEY },
      signal: AbortSignal.timeout(60_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const ping = () => ask('GET', 'system/ping')
  let child = start()
  await started(child, ping)
  const scanned = async (): Promise<readonly string[] | undefined> => {
    const scan = await ask('POST', 'db/scan?folder=f')
    if (!scan.ok) return undefined
    return pathsOf((await (await ask('GET', 'db/browse?folder=f')).json()) as readonly Entry[]).sort()
  }
  return {
    included: async (lines, files = {}) => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      writeFileSync(join(folder, '.stignore'), lines.join('\n'))
      try {
        return await scanned()
      } catch {
        // Some patterns end it (https://github.com/gobwas/glob/issues).
        await ended(child)
        writeFileSync(join(folder, '.stignore'), '')
        child = start()
        await started(child, ping)
        return undefined
      } finally {
        for (const name of Object.keys(files)) rmSync(join(folder, name))
      }
    },
    stop: () => {
      child.kill('SIGKILL')
      rmSync(work, { recursive: true, force: true })
    },
  }
}

interface Entry {
  readonly name: string
  readonly children?: readonly Entry[]
}

const pathsOf = (entries: readonly Entry[], parent = ''): string[] =>
  entries.flatMap(({ name, children }) => [parent + name, ...pathsOf(children ?? [], `${parent}${name}/`)])

/** Kills a process and waits for its exit: only then are its port and the lock of its database free. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

async function started(child: ChildProcess, ping: () => Promise<Response>): Promise<void> {
  const until = Date.now() + 30_000
  for (;;) {
    if (
      await ping().then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
    if (child.exitCode !== null || Date.now() > until) throw new Error('syncthing does not start')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

const config = (folder: string, port: number): string => `<configuration version="36">
  <folder id="f" label="f" path="${folder}" type="sendreceive" rescanIntervalS="0" fsWatcherEnabled="false">
    <filesystemType>basic</filesystemType>
    <minDiskFree unit="">0</minDiskFree>
  </folder>
  <gui enabled="true" tls="false"><address>127.0.0.1:${port}</address><apikey>${KEY}</apikey></gui>
  <options>
    <listenAddress>tcp://127.0.0.1:0</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <startBrowser>false</startBrowser>
    <urAccepted>-1</urAccepted>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
    <crashReportingEnabled>false</crashReportingEnabled>
  </options>
</configuration>
`
