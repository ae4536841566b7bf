import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { expect, vi } from 'vitest'
import { connectToBuilder } from '../../../adapters/buildkit/connect.ts'
import { REGISTRY } from './slow-project.ts'

const PROGRAM = 'buildkitd'

/**
 * The daemon's program, that of the test cluster before others; undefined without one, or without the rights to run it.
 */
export function findBuildkitd(): string | undefined {
  const ofCluster = process.env.KUBECONFIG ? [join(dirname(process.env.KUBECONFIG), 'bin')] : []
  const found = [...ofCluster, ...(process.env.PATH ?? '').split(delimiter)]
    .map(folder => join(folder, PROGRAM))
    .find(existsSync)
  return process.getuid?.() === 0 ? found : undefined
}

/** A BuildKit that a test may stop. */
export interface OwnBuildkit {
  readonly address: string
  /** Ends it. SIGTERM gives it the time to cancel its builds. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts it with what it had. */
  start(): Promise<void>
  /** Stops it from answering, without closing a connection. */
  freeze(): void
  thaw(): void
  /** Ends it, and removes its files. */
  close(): Promise<void>
}

/** Starts a daemon with files of its own. */
export async function ownBuildkit(program: string): Promise<OwnBuildkit> {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-test-buildkitd-'))
  const address = `unix://${folder}/buildkitd.sock`
  const config = `${folder}/buildkitd.toml`
  writeFileSync(config, configOf(folder, address))
  let daemon: ChildProcess | undefined
  const stop = async (signal: 'SIGTERM' | 'SIGKILL') => {
    const running = daemon
    daemon = undefined
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const ended = new Promise(resolve => running.once('exit', resolve))
    running.kill('SIGCONT')
    running.kill(signal)
    await ended
  }
  const start = async () => {
    const log = openSync(`${folder}/log`, 'a')
    daemon = spawn(program, ['--config', config], { stdio: ['ignore', log, log] })
    await vi
      .waitFor(async () => (await connectToBuilder(address, { signal: AbortSignal.timeout(1000) })).close(), {
        timeout: 60_000,
        interval: 100,
      })
      .catch(error => {
        throw new Error(`${PROGRAM} does not answer: ${readFileSync(`${folder}/log`, 'utf8')}`, { cause: error })
      })
  }
  const close = async () => {
    await stop('SIGTERM')
    await unmountBelow(folder)
    rmSync(folder, { recursive: true, force: true })
  }
  await start()
  return { address, stop, start, close, freeze: () => daemon?.kill('SIGSTOP'), thaw: () => daemon?.kill('SIGCONT') }
}

const configOf = (folder: string, address: string) => `root = "${folder}/root"
[grpc]
  address = ["${address}"]
[worker.containerd]
  enabled = false
[worker.oci]
  enabled = true
  binary = "runc"
  snapshotter = "overlayfs"
  networkMode = "host"
[registry."docker.io"]
  mirrors = ["${REGISTRY}"]
[registry."${REGISTRY}"]
  http = true
`

/** Unmounts what a killed daemon has left mounted; otherwise the folder could not be removed. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
    .filter(path => path.startsWith(`${folder}/`))
  for (const path of mounts.reverse()) {
    const status = await new Promise(resolve => spawn('umount', ['--lazy', path]).once('exit', resolve))
    expect(status).toBe(0)
  }
}
