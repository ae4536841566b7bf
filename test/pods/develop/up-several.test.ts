import { existsSync, mkdirSync } from 'node:fs'
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

const service = (name: string) => `  ${name}:
    image: node:22-alpine
    working_dir: /app
    user: "1000:1000"
    command: ["sleep", "1000"]
    ports: ["8080"]
    stop_grace_period: 1s
    ${PENDING}
`

/** Server that prints what it has read, and serves it. */
const SERVER = `
const text = require('fs').readFileSync('/app/greeting.txt', 'utf8').trim()
require('http').createServer((_, answer) => answer.end(text)).listen(8080, () => console.log('serves ' + text))
`

describe.skipIf(cluster === undefined)('devctl up with several development containers', () => {
  let place: DevelopmentPlace
  let port = 0

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'several')
    // Both want the first port, and one of them gets the next.
    port = await freePort(2)
    const dev = (name: string) => `  ${name}:
    command: ["node", "server.js"]
    workdir: /app
    sync: ["./${name}:/app"]
    forward: ["${port}:8080"]
    ${RUNNING}
`
    write(place.folder, {
      'compose.yaml': `name: shop\nservices:\n${service('api')}${service('web')}`,
      'devctl.yml': `deploy:\n  compose: compose.yaml\ndev:\n${dev('api')}${dev('web')}  shell:\n    autocreate: true\n    image: node:22-alpine\n    sync: ["./missing:/app"]\n`,
      'api/server.js': SERVER,
      'web/server.js': SERVER,
      'web/greeting.txt': 'from web',
    })
  })
  afterAll(() => place?.close())

  const devctl = (...words: readonly string[]) => place.devctl(...words)

  const greet = (text: string) => write(place.folder, { 'api/greeting.txt': text })

  const replicas = async (name: string) =>
    (
      await cluster!.get<{ spec: { replicas?: number } }>(
        `/apis/apps/v1/namespaces/${place.namespace}/deployments/${name}`,
      )
    ).spec.replicas

  const page = (at: number, text: string) =>
    eventually(`port ${at} says ${text}`, async () => {
      const answer = await fetch(`http://127.0.0.1:${at}/`, { signal: AbortSignal.timeout(60_000) }).catch(
        () => undefined,
      )
      return answer && (await answer.text()) === text ? true : undefined
    })

  test('up takes no application if one of them is invalid', async () => {
    const deploy = devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
    const all = devctl('up', '--all')
    expect(await all.status).toBe(1)
    expect(all.stderr).toContain('`./missing` of `sync` does not exist')
    const unknown = devctl('up', 'api', 'wed')
    expect(await unknown.status).toBe(1)
    expect(unknown.stderr).toContain('did you mean `web`?')
    expect([await replicas('api'), await replicas('web')]).toEqual([1, 1])
  })

  test('up runs two containers side by side and ends both at Ctrl-C', async () => {
    greet('from api')
    const up = devctl('up', 'api', 'web')
    await up.until(/^api +\| .*serves from api/, 120)
    await up.until(/^web +\| .*serves from web/, 120)
    expect([await replicas('api'), await replicas('web')]).toEqual([0, 0])
    await page(port, 'from api')
    expect(up.stderr).toContain(`web: localhost:${port + 1} leads to 8080, since api has port ${port}`)
    await page(port + 1, 'from web')

    const status = devctl('status', '--all')
    expect(await status.status).toBe(0)
    expect(status.stdout).toMatch(/api +100.00% {2}ready[\s\S]*web +100.00% {2}ready[\s\S]*shell +- {2}not active/)

    expect((await up.interrupt()).status).toBe(130)
    expect(up.stderr).toContain('the mirrors of api, web stay')
    expect([await replicas('api'), await replicas('web')]).toEqual([0, 0])
    const rest = devctl('down', '--all')
    expect(await rest.status, rest.stderr).toBe(0)
    expect([await replicas('api'), await replicas('web')]).toEqual([1, 1])
  })

  longTest('down ends one of two containers, and Ctrl-C the other', async () => {
    greet('from api')
    const up = devctl('up', 'api', 'web')
    await up.until(/^api +\| .*serves from api/, 120)
    await up.until(/^web +\| .*serves from web/, 120)
    await page(port + 1, 'from web')
    greet('later')
    const restart = devctl('restart', 'api')
    expect(await restart.status, restart.stderr).toBe(0)
    await up.until(/^api +\| .*serves later/, 180)
    const down = devctl('down', 'api')
    expect(await down.status, down.stderr).toBe(0)
    expect(await replicas('api')).toBe(1)
    await page(port + 1, 'from web')
    expect((await up.interrupt()).status).toBe(130)
    expect(up.stderr).toContain('the mirror of web stays; `devctl down web` restores the original')
    expect(await replicas('web')).toBe(0)
    const rest = devctl('down', '--all')
    expect(await rest.status, rest.stderr).toBe(0)
    expect(await replicas('web')).toBe(1)
  })

  longTest('restart restarts the command of `up`, and `up` continues', async () => {
    greet('later')
    const up = devctl('up', 'api')
    await up.until(/^serves later/, 120)
    const restart = devctl('restart', 'api')
    expect(await restart.status, restart.stderr).toBe(0)
    expect(restart.stderr).toContain('the program of api is restarted')
    await up.until(/^serves later/, 180, 2)
    await page(port, 'later')
    const down = devctl('down', 'api')
    expect(await down.status, down.stderr).toBe(0)
    expect(await up.status, up.stderr).toBe(0)
  })

  longTest('up --all --detach runs all containers in the background', async () => {
    greet('later')
    mkdirSync(join(place.folder, 'missing'), { recursive: true })
    const up = devctl('up', '--all', '--detach')
    expect(await up.status, up.stderr).toBe(0)
    expect(up.stderr).toContain('api, web, shell are in sync, in the background')
    await page(port, 'later')
    const exec = devctl('exec', 'shell', '--', 'touch', '/app/made')
    expect(await exec.status, exec.stderr).toBe(0)
    await eventually('the file is here', async () =>
      existsSync(join(place.folder, 'missing/made')) ? true : undefined,
    )
    const down = devctl('down', '--all')
    expect(await down.status, down.stderr).toBe(0)
    expect([await replicas('api'), await replicas('web')]).toEqual([1, 1])
  })
})
