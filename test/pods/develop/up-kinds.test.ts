import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { freePort } from '../../support/develop/free-port.ts'
import { longTest } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'
import { PENDING, RUNNING } from './no-node.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const COMPOSE = `name: shop
services:
  api:
    image: node:22-alpine
    command: ["node", "-e", "require('http').createServer((_, a) => a.end('of the image')).listen(8080)"]
    environment: {GREETING: hello from the cluster}
    ports: ["8080"]
    stop_grace_period: 1s
    ${PENDING}
  worker:
    image: node:22-alpine
    user: "1000:1000"
    working_dir: /app
    command: ["sleep", "3600"]
    stop_grace_period: 1s
    ${PENDING}
  client:
    image: busybox:1.37
    command: ["sleep", "3600"]
    stop_grace_period: 1s
`

describe.skipIf(cluster === undefined)('kinds of development containers', () => {
  let place: DevelopmentPlace
  let busy = 0

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-kinds')
    const port = await freePort()
    busy = await freePort()
    write(place.folder, {
      'compose.yaml': COMPOSE,
      'devctl.yml': `deploy: {compose: compose.yaml}
dev:
  api:
    mode: hybrid
    command: ["node", "server.js"]
    reverse: ["8080:${port}"]
    ${RUNNING}
  worker:
    command: ["sh", "-c", "echo ready; sleep 300"]
    workdir: /app
    sync: [".:/app"]
    ${RUNNING}
    services:
      - name: client
        sync: [".:/shared"]
        command: ["sh", "-c", "date >> /shared/runs.txt; sleep 3600"]
  tools:
    autocreate: true
    image: busybox:1.37
    command: ["sleep", "3600"]
    sync: ["./tools:/app"]
    forward: ["${busy}:9000"]
`,
      'tools/a': '',
      'server.js': `require('http').createServer((_, answer) => answer.end(process.env.GREETING + ', on ' + process.cwd())).listen(${port})`,
    })
    const deploy = devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
  })
  afterAll(() => place?.close())

  const devctl = (...words: readonly string[]) => place.devctl(...words)

  test("a command in hybrid mode runs here with the container's variables, and Services reach it", async () => {
    const up = devctl('up', 'api')
    const answer = await eventually(
      'the Service leads to this machine',
      async () => {
        const wget = ['exec', 'deploy/client', '--', 'wget', '-q', '-T', '5', '-O', '-', 'http://api:8080/']
        const text = await cluster!.kubectl('--namespace', place.namespace, ...wget).catch(() => '')
        return text.startsWith('hello') ? text : undefined
      },
      { explain: async () => up.stderr, seconds: 270 },
    )
    expect(answer).toBe(`hello from the cluster, on ${place.folder}`)
    const exec = devctl('exec', 'api', '--', 'ls')
    expect(await exec.status).toBe(1)
    expect(exec.stderr).toContain('runs its command on this machine')
    const down = devctl('down', 'api')
    expect(await down.status, down.stderr).toBe(0)
  })

  longTest('`up` with `autocreate` deploys only once, and reports a moved port in the background', async () => {
    const other = createServer().listen(busy, '127.0.0.1')
    const deployed = []
    for (let n = 0; n < 2; n++) {
      const up = devctl('up', 'tools', '--detach')
      expect(await up.status, up.stderr).toBe(0)
      expect(up.stderr).toMatch(new RegExp(`port ${busy} .*: localhost:\\d+ leads to 9000 instead`))
      deployed.push(up.stderr.includes('Compiled'))
      const again = devctl('up', 'tools')
      expect(await again.status).toBe(1)
      const running = Number(/already runs on this machine \(process (\d+)\)/.exec(again.stderr)?.[1])
      process.kill(running, 'SIGTERM')
      await eventually('it has ended', async () => {
        try {
          process.kill(running, 0)
          return undefined
        } catch {
          return true
        }
      })
    }
    other.close()
    expect(deployed).toEqual([true, false])
    const down = devctl('down', 'tools')
    expect(await down.status, down.stderr).toBe(0)
  })

  longTest('services share the files of the container and restart with it', async () => {
    const up = devctl('up', 'worker')
    await up.until(/ready/, 180)
    const runs = () =>
      existsSync(join(place.folder, 'runs.txt')) ? readFileSync(join(place.folder, 'runs.txt'), 'utf8') : ''
    const lines = (count: number) =>
      eventually(`${count} runs`, async () => (runs().split('\n').length > count ? true : undefined))
    await lines(1)
    const restart = devctl('restart', 'worker')
    expect(await restart.status, restart.stderr).toBe(0)
    expect(restart.stderr).toContain('client is restarted, beside worker')
    await lines(2)
    const info = devctl('status', 'worker', '--info')
    expect(await info.status, info.stderr).toBe(0)
    const [, url, password] = /local: +(\S+)[\s\S]*password: (\S+)/.exec(info.stdout) ?? []
    const authorization = `Basic ${Buffer.from(`devctl:${password}`).toString('base64')}`
    const page = await fetch(`${url}status.json`, { headers: { authorization } })
    expect(await page.json()).toMatchObject({ dev: 'worker', state: 'ready' })
    expect((await fetch(url!)).status).toBe(401)
    const down = devctl('down', '--all')
    expect(await down.status, down.stderr).toBe(0)
  })
})
