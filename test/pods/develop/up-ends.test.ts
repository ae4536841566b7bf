import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { longTest } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'
import { NO_NODE, RUNNING } from './no-node.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const MANIFEST = `dev:
  api:
    command: ["sh", "-c", "cat greeting.txt; sleep 300"]
    workdir: /app
    sync: [".:/app"]
    ${RUNNING}
`
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'api' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'api' } },
    template: {
      metadata: { labels: { app: 'api' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        nodeSelector: NO_NODE,
        containers: [{ name: 'api', image: 'busybox:1.37', command: ['sleep', '3600'] }],
      },
    },
  },
}

describe.skipIf(cluster === undefined)('the end of devctl up', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-ends')
    write(place.folder, {
      'devctl.yml': MANIFEST,
      'greeting.txt': 'from the laptop\n',
      'api.json': JSON.stringify(DEPLOYMENT),
    })
    await cluster!.kubectl('-n', place.namespace, 'apply', '-f', join(place.folder, 'api.json'))
  })
  afterAll(() => place?.close())

  const replicas = async () =>
    (await cluster!.get<{ spec: { replicas?: number } }>(`/apis/apps/v1/namespaces/${place.namespace}/deployments/api`))
      .spec.replicas
  const leases = async () =>
    (await cluster!.get<{ items: object[] }>(`/apis/coordination.k8s.io/v1/namespaces/${place.namespace}/leases`)).items

  /** Waits until nothing of the session is left on this machine and no session holds the application. */
  const ended = () =>
    eventually('the session has ended in order', async () => {
      const isClosed = readdirSync(join(place.home, 'run')).length === 0
      const hasEntry = readFileSync(join(place.home, 'ssh/config'), 'utf8') !== ''
      return (isClosed && !hasEntry && (await leases()).length === 0) || undefined
    })

  /** Runs `up` in a separate terminal; killing the process that holds the terminal closes it. */
  async function inTerminal(...words: readonly string[]) {
    const isBackground = words.includes('--detach')
    const line = [process.execPath, join(root, 'bin/devctl.cjs'), 'up', ...words].join(' ')
    const env = { ...process.env, DEVCTL_HOME: place.home, DEVCTL_NAMESPACE: place.namespace, TERM: 'xterm' }
    const terminal = spawn('script', ['-qfc', line, '/dev/null'], { cwd: place.folder, env, stdio: 'pipe' })
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
      // devctl asks for permission to write into ~/.ssh/config.
      if (text.includes('?')) terminal.stdin.write('\u001b[B\r')
    })
    await eventually(
      'the command runs',
      async () => shown.includes(isBackground ? 'in the background' : 'from the laptop') || undefined,
      { explain: async () => shown, seconds: 270 },
    )
    return terminal
  }

  test('a closed terminal ends the session and keeps the mirror', async () => {
    const terminal = await inTerminal()
    expect(await replicas()).toBe(0)
    terminal.kill('SIGKILL')
    await ended()
    expect(await replicas()).toBe(0)
  })

  test('a closed terminal restores the original with `--down-on-exit`', async () => {
    const terminal = await inTerminal('--down-on-exit')
    terminal.kill('SIGKILL')
    await ended()
    await eventually('the original runs', async () => (await replicas()) === 2 || undefined)
  })

  longTest('SIGHUP alone ends the session', async () => {
    const up = place.devctl('up')
    await up.until(/from the laptop/, 180)
    expect((await up.interrupt('SIGHUP')).status).toBe(130)
    await ended()
  })

  longTest('up continues after SIGHUP when it runs with nohup', async () => {
    const line = `nohup ${process.execPath} ${join(root, 'bin/devctl.cjs')} up & echo process $!; wait`
    const env = { ...process.env, DEVCTL_HOME: place.home, DEVCTL_NAMESPACE: place.namespace }
    const shell = spawn('bash', ['-c', line], { cwd: place.folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    let shown = ''
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    await eventually('the command runs', async () => shown.includes('from the laptop') || undefined, { seconds: 270 })
    const id = Number(/process (\d+)/.exec(shown)![1])
    process.kill(id, 'SIGHUP')
    const status = place.devctl('status')
    expect(await status.status, status.stderr).toBe(0)
    expect(status.stdout).toContain(': ready')
    process.kill(id, 'SIGTERM')
    await ended()
  })

  test('up --detach outlives its terminal, and its command line shows no variable', async () => {
    const up = await inTerminal('--detach', '--env', 'API_TOKEN=of-a-bank')
    await eventually('the terminal is closed', async () => up.exitCode ?? undefined)
    const read = place.devctl('exec', '--', 'sh', '-c', 'echo $API_TOKEN')
    expect(await read.status, read.stderr).toBe(0)
    expect(read.stdout).toBe('of-a-bank\n')
    const [own, ...others] = running()
    expect(others).toEqual([])
    expect(own!.words).toContain('up')
    expect(own!.words.join(' ')).not.toContain('of-a-bank')
    process.kill(own!.id, 'SIGHUP')
    await ended()
  })

  longTest('an interruption reports that the mirror stays only if it exists', async () => {
    for (const [pause, ...words] of [[700, '--down-on-exit'], [400], [150], [700], [1000]] as const) {
      const down = place.devctl('down')
      expect(await down.status, down.stderr).toBe(0)
      const up = place.devctl('up', ...words)
      await new Promise(resolve => setTimeout(resolve, pause))
      await up.interrupt()
      const isTaken = (await replicas()) === 0
      expect(up.stderr.includes('the mirror of api stays'), `${pause}: ${up.stderr}`).toBe(isTaken)
      if (words.length > 0) expect(isTaken).toBe(false)
    }
  })

  longTest('status reports why a background session has failed, until the original is restored', async () => {
    const up = place.devctl('up', '--detach')
    expect(await up.status, up.stderr).toBe(0)
    await cluster!.kubectl('-n', place.namespace, 'delete', 'deployment', 'api')
    await eventually('it has ended', async () => running().length === 0 || undefined)
    const status = place.devctl('status', 'api')
    expect(await status.status).toBe(1)
    expect(status.stderr).toMatch(
      /note: `up` of api has ended with an error at \S+: `deployment\/api` was deleted, and its mirror with it/,
    )
    expect(await place.devctl('down', 'api').status).toBe(0)
    const after = place.devctl('status', 'api')
    expect(await after.status).toBe(1)
    expect(after.stderr).not.toContain('has ended with an error')
  })

  /** Returns the devctl processes of this test. */
  const running = () =>
    readdirSync('/proc')
      .filter(id => /^\d+$/.test(id))
      .flatMap(id => {
        try {
          const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0')
          const isOurs = readFileSync(`/proc/${id}/environ`, 'utf8').includes(`DEVCTL_HOME=${place.home}\0`)
          return isOurs && words.slice(1, 3).some(word => word.endsWith('devctl.cjs'))
            ? [{ id: Number(id), words }]
            : []
        } catch {
          // The process has just ended.
          return []
        }
      })
})
