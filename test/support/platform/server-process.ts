import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import type { RunSettings } from '../../../platform/server/context.ts'
import { root } from '../cases.ts'
import { eventually } from '../cluster/cluster.ts'
import { ANSWER_MS } from '../deadlines.ts'
import { freePort } from '../develop/free-port.ts'
import { serverToken, type TestPlatform } from './open-platform.ts'

/** A server as installed, in its own process. */
export interface ServerProcess {
  readonly port: number
  readonly process: ChildProcess
  readonly log: string[]
  isLeader: boolean
  isKilled: boolean
}

/** Writes into a folder what a server needs: its program, with the settings and rights that a platform has. */
export async function makeServer(
  folder: string,
  platform: TestPlatform,
  more: Partial<RunSettings> = {},
): Promise<void> {
  for (const name of ['keys', 'login', 'web']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'keys/k1'), Buffer.alloc(32, 1).toString('base64'))
  const { kubernetes, domain, url, runs } = platform.world.settings
  const settings = { domain, url, kubernetes, runs: { ...runs, ...more } }
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
  const cluster = { server: kubernetes.server, 'certificate-authority-data': btoa(kubernetes.ca ?? '') }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: await serverToken(platform.cluster) } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config), { mode: 0o600 })
  await build({
    entryPoints: [join(root, 'platform/server/main.ts')],
    outfile: join(folder, 'server.mjs'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'error',
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
}

/** Starts a server of such a folder, and waits until it answers. */
export async function startServer(folder: string): Promise<ServerProcess> {
  const port = await freePort()
  // With the options of its image.
  const options = ['--max-semi-space-size=2', '--optimize-for-size']
  const started = spawn(process.execPath, [...options, join(folder, 'server.mjs')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      KUBECONFIG: join(folder, 'kubeconfig'),
      DEVCTL_SETTINGS: join(folder, 'settings.json'),
      DEVCTL_KEYS: join(folder, 'keys'),
      DEVCTL_LOGIN: join(folder, 'login'),
      DEVCTL_WEB: join(folder, 'web'),
      PORT: String(port),
    },
  })
  const server: ServerProcess = { port, process: started, log: [], isLeader: false, isKilled: false }
  createInterface(started.stderr!).on('line', line => {
    server.log.push(line)
    if (/ leads( no more)?"/.test(line)) server.isLeader = !line.includes('no more')
  })
  await eventually(
    'a server answers',
    () =>
      askServer(server, '/info')
        .then(({ status }) => (status === 200 ? true : undefined))
        .catch(() => undefined),
    { explain: async () => server.log.join('\n') },
  )
  return server
}

/** Sends a request of the API, with a body as POST. */
export const askServer = (
  { port }: ServerProcess,
  path: string,
  { token, body }: { readonly token?: string; readonly body?: object } = {},
): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
