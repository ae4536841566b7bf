import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../pods/develop/development.ts'
import { write } from '../support/cli/folder.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'
import { freePort } from '../support/develop/free-port.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** HTTP server that reads its file for each request. */
const SERVER = `
require('http').createServer((_, answer) => answer.end(require('fs').readFileSync('/app/page.txt'))).listen(8080, () => console.log('listens'))
`

describe.skipIf(cluster === undefined)('devctl up --all with a Compose file alone', () => {
  let place: DevelopmentPlace
  let ports: readonly number[] = []

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'compose-all')
    ports = [await freePort(), await freePort()]
    const service = (name: string, port: number) => `  ${name}:
    image: node:22-alpine
    working_dir: /app
    command: ["node", "server.js"]
    user: "1000:1000"
    volumes: ["./${name}:/app"]
    ports: ["${port}:8080"]
    stop_grace_period: 1s
    develop: {watch: [{path: ${name}/server.js, action: sync+restart, target: /app/server.js}]}
`
    write(place.folder, {
      'compose.yaml': `name: shop
services:
${service('api', ports[0]!)}${service('web', ports[1]!)}  db:
    image: busybox:1.37
    command: ["sleep", "3600"]
    stop_grace_period: 1s
`,
      'api/server.js': SERVER,
      'api/page.txt': 'api one',
      'web/server.js': SERVER,
      'web/page.txt': 'web one',
    })
  })
  afterAll(() => place?.close())

  const page = (port: number, text: string) =>
    eventually(
      `port ${port} says ${text}`,
      async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(60_000) }).catch(
          () => undefined,
        )
        return answer && (await answer.text()) === text ? true : undefined
      },
      { seconds: 120 },
    )
  const deployments = async () => {
    const { items } = await cluster!.get<{ items: { metadata: { name: string }; spec: { replicas: number } }[] }>(
      `/apis/apps/v1/namespaces/${place.namespace}/deployments`,
    )
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.replicas]))
  }

  test('up --all mirrors every service with a folder, its port and rules, and down restores them', async () => {
    const up = place.devctl('up', '--all')
    await up.until(/^api +\| .*listens/, 180)
    await up.until(/^web +\| .*listens/, 180)
    expect(await deployments()).toEqual({ api: 0, 'api-dev': 1, db: 1, web: 0, 'web-dev': 1 })
    await page(ports[0]!, 'api one')
    await page(ports[1]!, 'web one')

    writeFileSync(join(place.folder, 'web/page.txt'), 'web two')
    await page(ports[1]!, 'web two')
    await page(ports[0]!, 'api one')

    // Another process gets the forwards from the running one.
    const status = place.devctl('status', '--all')
    expect(await status.status, status.stderr).toBe(0)
    for (const port of ports) expect(status.stdout).toContain(`Forward localhost:${port} → 8080`)
    expect(status.stdout).not.toContain('db')

    writeFileSync(join(place.folder, 'api/server.js'), SERVER.replace("'listens'", "'listens again'"))
    await up.until(/^api +\| .*listens again/, 180)
    expect(up.lines.filter(line => /^web +\| .*listens/.test(line))).toHaveLength(1)

    const down = place.devctl('down', '--all')
    expect(await down.status, down.stderr).toBe(0)
    expect(await up.status, up.stderr).toBe(0)
    expect(await deployments()).toEqual({ api: 1, db: 1, web: 1 })
    // `up` does not need public addresses; `deploy` does.
    const noDomain = 'routes not created or changed: no domain is set'
    expect(up.stderr).not.toContain(noDomain)
    const deploy = place.devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
    expect(deploy.stderr).toContain(noDomain)
  })
})
