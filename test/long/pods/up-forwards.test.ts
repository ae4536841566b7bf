import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { PENDING, RUNNING } from '../../pods/develop/no-node.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { freePort } from '../../support/develop/free-port.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const service = (name: string) => `  ${name}:
    image: busybox:1.37
    command: ["sleep", "3600"]
    stop_grace_period: 1s
    ${PENDING}
`

describe.skipIf(cluster === undefined)('two processes of devctl up with the same forwards', () => {
  let place: DevelopmentPlace
  let global = 0
  let own = 0

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-forwards')
    ;[global, own] = [await freePort(), await freePort()]
    const dev = (name: string) => `  ${name}:
    command: ["sh", "-c", "echo ${name} > /tmp/index.html; echo connected; httpd -f -p 8080 -h /tmp"]
    sync: ["./${name}:/files"]
    forward: ["${own}:8080"]
    ${RUNNING}
`
    write(place.folder, {
      'compose.yaml': `name: shop
services:
${service('api')}${service('web')}  db:
    image: busybox:1.37
    command: ["sh", "-c", "echo db > /tmp/index.html; httpd -f -p 8080 -h /tmp"]
    ports: ["8080"]
    stop_grace_period: 1s
`,
      'devctl.yml': `deploy: {compose: compose.yaml}
forward: ["${global}:db:8080"]
dev:
${dev('api')}${dev('web')}`,
      'api/x': 'x',
      'web/x': 'x',
    })
    const deploy = place.devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
  })
  afterAll(() => place?.close())

  const page = (port: number, text: string) =>
    eventually(`port ${port} says ${text}`, async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(60_000) }).catch(
        () => undefined,
      )
      return answer && (await answer.text()).trim() === text ? true : undefined
    })

  test('the second process moves its own forward, and takes over shared ones after the first ends', async () => {
    const first = place.devctl('up', 'api')
    await first.until(/^connected$/, 180)
    const second = place.devctl('up', 'web')
    await second.until(/^connected$/, 180)
    await page(global, 'db')
    await page(own, 'api')
    expect(second.stderr).toMatch(new RegExp(`port ${own} of .* is in use, .*: localhost:\\d+ leads to 8080 instead`))
    const moved = Number(/localhost:(\d+) leads to 8080 instead/.exec(second.stderr)![1])
    await page(moved, 'web')

    const status = place.devctl('status', 'web')
    expect(await status.status, status.stderr).toBe(0)
    expect(status.stdout).toContain(`Forward localhost:${moved} → 8080`)
    expect(status.stdout).not.toContain(`localhost:${own} `)

    const down = place.devctl('down', 'api')
    expect(await down.status, down.stderr).toBe(0)
    expect(await first.status, first.stderr).toBe(0)
    await page(global, 'db')
    await page(moved, 'web')
    const rest = place.devctl('down', 'web')
    expect(await rest.status, rest.stderr).toBe(0)
  })
})
