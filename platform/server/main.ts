import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tokenAccesses } from '../../adapters/kubernetes/connection.ts'
import { connect, toCluster } from '../../adapters/kubernetes/kube-cluster.ts'
import { rfc3339 } from '../records/names.ts'
import { unknownSettings } from '../rules/setting-keys.ts'
import type { ServerContext } from './context.ts'
import { createServices } from './create-services.ts'
import { createApp } from './http/app.ts'
import { makeApps, type Ports } from './http/make-apps.ts'
import { readWebFiles } from './http/pages.ts'
import { startProblem } from './http/start-problem.ts'
import { lead } from './leader/leader.ts'
import { makeTasks } from './leader/make-tasks.ts'
import { readKeys, sealingWith } from './leader/sealed.ts'
import { readRegistryKey } from './registry/registry-key.ts'
import { readSettings } from './settings.ts'
import { leadsHere } from './sleep/waker/route-end.ts'

/** Time in milliseconds for active requests to finish when the Pod ends. */
const GOODBYE = 10_000

interface Start {
  /** Path of the settings file. */
  readonly settings: string
  /** Path of the folder with the sealing keys. */
  readonly keys: string
  /** Path of the folder with the client secrets of providers. */
  readonly login: string
  /** Path of the folder with the key that signs registry tokens. */
  readonly registry: string
  /** Path of the file with private certificate authorities, which Node.js trusts. */
  readonly trusted: string | undefined
  /** Path of the folder with the web UI. */
  readonly web: string
  readonly version: string
  readonly settingsHash: string | undefined
  readonly ports: Ports
}

/** Serves the platform until the process receives a signal. */
async function serve({
  settings,
  keys,
  login,
  registry,
  trusted,
  web,
  version,
  settingsHash,
  ports,
}: Start): Promise<void> {
  const accessAs = await tokenAccesses(process.env)
  const text = readFileSync(settings, 'utf8')
  const read = readSettings(text)
  const log: ServerContext['log'] = line => void process.stderr.write(`${JSON.stringify(line)}\n`)
  for (const { key, hint } of unknownSettings(JSON.parse(text)))
    log({
      time: rfc3339(Date.now()),
      text: `settings: \`${key}\` is unknown and ignored${hint === undefined ? '' : `: ${hint}`}`,
    })
  const registryKey = read.registryTokens ? readRegistryKey(registry) : undefined
  if (read.registryTokens && !registryKey)
    throw new Error(`settings: \`registryTokens\` needs a key in \`${registry}\``)
  const authorities = trusted === undefined ? undefined : readText(trusted)
  const world: ServerContext = {
    cluster: await connect({ env: process.env }),
    clusterAs: (token, who) => toCluster(accessAs(token, who)),
    settings: read,
    ...(authorities !== undefined && { authorities }),
    ...(settingsHash !== undefined && { settingsHash }),
    sealing: sealingWith({ read: () => readKeys(keys), now: Date.now }),
    version,
    ...(registryKey && { registryKey }),
    clientSecret: provider => readText(join(login, provider)),
    leadsHere,
    now: Date.now,
    random: randomBytes,
    audit: line => void process.stdout.write(`${JSON.stringify(line)}\n`),
    log,
  }
  const parts = createServices(world)
  const apps = makeApps((files, options) => createApp(world, parts, files, options), readWebFiles(web), ports)
  const over = new AbortController()
  void parts.index.follow(over.signal)
  const leading = lead(world, makeTasks(world, parts), over.signal, parts.failing)
  const end = () => {
    setTimeout(() => process.exit(1), GOODBYE).unref()
    over.abort()
    // Releases the Lease, so that the next leader does not have to wait until it expires.
    void Promise.all([...apps.map(({ app }) => app.close()), leading]).then(() => process.exit(0))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end)
  await Promise.all(apps.map(({ app, port }) => app.listen({ port, host: '::' })))
}

/** Returns the text of a file; undefined if the file does not exist. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}

const {
  DEVCTL_SETTINGS: settings = '/etc/devctl/settings.json',
  DEVCTL_KEYS: keys = '/etc/devctl-keys',
  DEVCTL_LOGIN: login = '/etc/devctl-login',
  DEVCTL_REGISTRY_KEY: registry = '/etc/devctl-registry',
  NODE_EXTRA_CA_CERTS: trusted,
  DEVCTL_WEB: web = '/devctl/web',
  DEVCTL_VERSION: version = '0.0.0',
  DEVCTL_SETTINGS_HASH: settingsHash,
  PORT = '8080',
  RUNS_PORT,
} = process.env
const ports = { main: Number(PORT), runs: RUNS_PORT === undefined ? undefined : Number(RUNS_PORT) }
serve({ settings, keys, login, registry, trusted, web, version, settingsHash, ports }).catch(error => {
  process.stderr.write(`${JSON.stringify({ time: rfc3339(Date.now()), text: startProblem(error) })}\n`)
  process.exit(1)
})
