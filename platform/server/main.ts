import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from '../../adapters/kubernetes/kube-cluster.ts'
import { createApp } from './app.ts'
import { lead } from './leader.ts'
import { makeParts } from './make-parts.ts'
import { makeTasks } from './make-tasks.ts'
import { readSettings } from './settings.ts'

/** Milliseconds for requests that are under way when the Pod ends. */
const GOODBYE = 10_000

/** Serves the platform with the settings in a file, until a signal ends it. */
async function serve(file: string, version: string, port: number): Promise<void> {
  const world = {
    cluster: await connect({ env: process.env }),
    settings: readSettings(readFileSync(file, 'utf8')),
    version,
    now: Date.now,
    random: randomBytes,
    audit: (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`),
    log: (line: object) => void process.stderr.write(`${JSON.stringify(line)}\n`),
  }
  const app = createApp(world, makeParts(world))
  const over = new AbortController()
  const leading = lead(world, makeTasks(world), over.signal)
  const end = () => {
    setTimeout(() => process.exit(1), GOODBYE).unref()
    over.abort()
    // The next leader need not wait until it is known that this one is gone.
    void Promise.all([app.close(), leading]).then(() => process.exit(0))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end)
  await app.listen({ port, host: '::' })
}

const { DEVCTL_SETTINGS = '/etc/devctl/settings.json', DEVCTL_VERSION = '0.0.0', PORT = '8080' } = process.env
void serve(DEVCTL_SETTINGS, DEVCTL_VERSION, Number(PORT))
