import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'
import { PENDING, RUNNING } from './no-node.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/**
 * Compose file of a web server with two replicas. Before a merge, they stay pending: other tests have originals that
 * run.
 */
const COMPOSE = `name: shop
services:
  api:
    image: node:22-alpine
    working_dir: /app
    user: "1000:1000"
    command: ["node", "-e", "require('http').createServer((_, a) => a.end('of the image')).listen(8080)"]
    ports: ["8080"]
    scale: 2
    stop_grace_period: 1s
    ${TAKES_ALL ? '' : PENDING}
`
const MANIFEST = `deploy:
  compose: compose.yaml
dev:
  api:
    command: ["sh", "-c", "cat greeting.txt; sleep 300"]
    workdir: /app
    sync: [".:/app"]
    environment: {GREETING: hello}
    ${RUNNING}
`

describe.skipIf(cluster === undefined)('devctl up', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up')
    write(place.folder, { 'compose.yaml': COMPOSE, 'devctl.yml': MANIFEST, 'greeting.txt': 'from the laptop\n' })
  })
  afterAll(() => place?.close())

  const devctl = (...words: readonly string[]) => place.devctl(...words)

  const replicas = async () =>
    (await cluster!.get<{ spec: { replicas?: number } }>(`/apis/apps/v1/namespaces/${place.namespace}/deployments/api`))
      .spec.replicas

  test('up --dry-run prints the mirror without secrets and changes nothing', async () => {
    const deploy = devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
    const dry = devctl('up', '--dry-run')
    expect(await dry.status, dry.stderr).toBe(0)
    expect(dry.stdout).toContain('name: api-dev')
    expect(dry.stdout).toMatch(/session\.json: ["']?\*\*\*/)
    expect(dry.stdout).not.toContain('PRIVATE KEY')
    expect(await replicas()).toBe(2)
  })

  test('up runs the command with synchronized files, and down restores the original', async () => {
    const up = devctl('up')
    await up.until(/from the laptop/, 180)
    expect(await replicas()).toBe(0)

    writeFileSync(join(place.folder, 'new.txt'), 'saved\n')
    const read = () => devctl('exec', '--', 'cat', 'new.txt')
    const saved = await eventually('the new file is in the container', async () => {
      const program = read()
      return (await program.status) === 0 ? program.stdout : undefined
    })
    expect(saved).toBe('saved\n')

    const made = devctl('exec', '--', 'sh', '-c', 'echo $GREETING > made.txt; exit 7')
    expect(await made.status, made.stderr).toBe(7)
    const here = join(place.folder, 'made.txt')
    await eventually('the file of the container is here', async () =>
      existsSync(here) && readFileSync(here, 'utf8') === 'hello\n' ? true : undefined,
    )

    const config = join(place.home, 'ssh/config')
    const ssh = (...words: string[]) =>
      execFileSync('ssh', ['-F', config, 'api.devctl', ...words], { encoding: 'utf8', timeout: 60_000 })
    expect(ssh('pwd; cat new.txt; echo $GREETING')).toBe('/app\nsaved\nhello\n')
    execFileSync('scp', ['-q', '-F', config, join(place.folder, 'new.txt'), 'api.devctl:copied.txt'], {
      timeout: 60_000,
    })
    expect(ssh('cat copied.txt')).toBe('saved\n')

    const missing = devctl('exec', '--', 'no-such-program')
    expect(await missing.status).toBe(127)
    expect(missing.stderr).toMatch(/^sh: .*no-such-program: not found/m)
    expect(await devctl('exec', '--', './new.txt').status).toBe(126)

    // No process stays in the container, neither after Ctrl-C nor after the output is closed.
    const waiting = devctl('exec', '--', 'sh', '-c', 'echo begun; exec sleep 4712')
    await waiting.until(/begun/)
    expect((await waiting.interrupt()).status).toBe(130)
    const talking = devctl('exec', '--', 'sh', '-c', 'while :; do echo 4713; sleep 0.2; done')
    await talking.until(/4713/)
    talking.process.stdout!.destroy()
    expect(await talking.status).toBe(141)
    const left = devctl('exec', '--', 'sh', '-c', "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    expect(await left.status).toBe(0)
    expect(left.stdout).toContain('sleep 300')
    expect(left.stdout).not.toMatch(/471[23]/)

    const status = devctl('status')
    expect(await status.status, status.stderr).toBe(0)
    expect(status.stdout).toContain('Synchronization status: 100.00%')

    const down = devctl('down')
    expect(await down.status, down.stderr).toBe(0)
    expect(await up.status, up.stderr).toBe(0)
    expect(await replicas()).toBe(2)
    expect(readFileSync(config, 'utf8')).toBe('')
  })
})
