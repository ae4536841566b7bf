import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { PENDING, RUNNING } from '../../pods/develop/no-node.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Server that occupies its port, reports when it listens, and does not end with its input. */
const SERVER = `require('http').createServer().listen(8080, () => console.log('listens'))`
const KILL_NODE = 'for one in /proc/[0-9]*; do [ "$(cat $one/comm)" = node ] && kill -KILL "${one#/proc/}"; done; true'
const COMPOSE = `name: shop
services:
  api:
    image: node:22-alpine
    command: ["sleep", "1000"]
    stop_grace_period: 1s
    ${PENDING}
`
const MANIFEST = `deploy:
  compose: compose.yaml
dev:
  api:
    command: ["node", "-e", ${JSON.stringify(SERVER)}]
    sync: [".:/app"]
    ${RUNNING}
`

describe.skipIf(cluster === undefined)('the command of devctl up', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'replaced')
    write(place.folder, { 'compose.yaml': COMPOSE, 'devctl.yml': MANIFEST })
  })
  afterAll(() => place?.close())

  const servers = async () => {
    const listed = place.devctl('exec', '--', 'sh', '-c', 'ps -o comm | grep -cx node')
    await listed.status
    return Number(listed.stdout)
  }

  test('the command runs again in a Pod that replaces its own', async () => {
    const up = place.devctl('up')
    await up.until(/listens/, 180)
    await cluster!.kubectl('delete', 'pod', '-n', place.namespace, '-l', 'dev.platform/mirror', '--wait=false')
    await up.until(/listens/, 180, 2)
    expect(up.stderr).toMatch(/being replaced|connection was lost|has ended/)
    up.process.kill('SIGKILL')
    await up.status
    expect(await servers()).toBe(1)
  })

  test('up ends the command of an earlier `up` that was killed', async () => {
    const up = place.devctl('up')
    await up.until(/listens/, 180)
    expect(up.stdout + up.stderr).not.toContain('EADDRINUSE')
    expect(await servers()).toBe(1)
    up.process.kill('SIGTERM')
    expect(await up.status).toBe(130)
    // The command is ended by this `up`, not by the next one.
    await eventually('nothing of it runs', async () => ((await servers()) === 0 ? true : undefined))
  })

  test('up ends with the command when another process kills it', async () => {
    const up = place.devctl('up')
    await up.until(/listens/, 180)
    const kill = place.devctl('exec', '--', 'sh', '-c', KILL_NODE)
    expect(await kill.status, kill.stderr).toBe(0)
    expect(await up.status).toBe(137)
    const down = place.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
  })
})
