import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type DevelopmentPlace, openDevelopment } from '../pods/develop/development.ts'
import { write } from '../support/cli/folder.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'
import { writeKubeconfig } from '../support/cluster/kubeconfig-file.ts'
import type { Program } from '../support/cluster/program.ts'
import { generator } from '../support/cluster/random.ts'
import { TcpProxy } from '../support/cluster/tcp-proxy.ts'
import { freePort } from '../support/develop/free-port.ts'

// Simulates a bad connection to the API server: it is slow, is cut, or falls silent.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const COMPOSE = `name: shop
services:
  api:
    image: node:22-alpine
    working_dir: /app
    command: ["sleep", "3600"]
    user: "1000:1000"
    stop_grace_period: 1s
`
const manifest = (port: number) => `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["node", "server.js"]
    workdir: /app
    sync: ["./files:/app"]
    forward: ["${port}:8080"]
`
/** HTTP server that returns the files of its folder, and writes them. */
const SERVER = `const { readFile, writeFileSync } = require('fs')
require('http').createServer((asked, answer) => {
  const name = '.' + asked.url
  if (asked.method === 'POST') {
    writeFileSync(name, 'of the container')
    return answer.end()
  }
  readFile(name, (error, bytes) => answer.end(error ? '' : bytes))
}).listen(8080, () => console.log('connected'))
`

describe.skipIf(cluster === undefined)('a bad connection to the API server', () => {
  let place: DevelopmentPlace
  let line: TcpProxy
  let port = 0
  let up: Program | undefined

  beforeAll(async () => {
    const { hostname, port: there } = new URL(
      parse(readFileSync(process.env.KUBECONFIG!, 'utf8')).clusters[0].cluster.server,
    )
    line = await TcpProxy.start(hostname, Number(there))
    const KUBECONFIG = writeKubeconfig(({ clusters }) => {
      clusters[0]!.cluster['server'] = `https://127.0.0.1:${line.port}`
    })
    place = await openDevelopment(cluster!, 'bad-line', { KUBECONFIG })
    port = await freePort()
    const files = { 'compose.yaml': COMPOSE, 'devctl.yml': manifest(port), 'files/server.js': SERVER }
    write(place.folder, files)
    const deploy = place.devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
  })
  beforeEach(async () => {
    up?.process.kill('SIGKILL')
    await up?.status
    line.delay = 0
    line.isSilent = false
  })
  afterAll(async () => {
    line?.close()
    await place?.close()
  })

  const here = (name: string) => join(place.folder, 'files', name)

  async function start(): Promise<Program> {
    up = place.devctl('up')
    await up.until(/^connected$/, 180)
    return up
  }

  /** Returns the response of the container over the forwarded port. */
  async function asked(name: string, method = 'GET'): Promise<string> {
    const headers = { connection: 'close' }
    const signal = AbortSignal.timeout(60_000)
    return (await fetch(`http://127.0.0.1:${port}/${name}`, { method, headers, signal })).text()
  }

  /** Resolves if the local port is open; rejects if it is not. */
  async function connects(): Promise<void> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect', { signal: AbortSignal.timeout(60_000) })
    socket.destroy()
  }

  const arrives = (name: string, text: string) =>
    eventually(
      `${name} is in the container`,
      async () => ((await asked(name).catch(() => '')) === text ? true : undefined),
      { explain: async () => up!.stderr.slice(-3000), pause: 50 },
    )

  const comes = (name: string) =>
    eventually(`${name} is here`, async () => existsSync(here(name)) || undefined, { pause: 50 })

  const connectedAgain = (count: number) => up!.until(/^connected$/, 180, count)

  test.each([20, 80])('a connection with %d ms delay syncs files both ways and forwards ports', async delay => {
    line.delay = delay
    await start()
    const took: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      const began = Date.now()
      const text = `${delay} ms, ${attempt}`
      writeFileSync(here('near.txt'), text)
      await arrives('near.txt', text)
      took.push(Date.now() - began)
    }
    // One round trip is for the file and one for the request, plus the connection setup. The machine may be busy
    // during some attempts, but not during all.
    expect(Math.min(...took)).toBeLessThan(1000 + 12 * delay)
    await asked(`from-${delay}.txt`, 'POST')
    await comes(`from-${delay}.txt`)

    const large = 'large '.repeat(700_000)
    for (let n = 0; n < 300; n++) writeFileSync(here(`many-${n}.txt`), `${delay} ms, ${n}`)
    writeFileSync(here('large.txt'), large)
    await arrives('many-299.txt', `${delay} ms, 299`)
    await arrives('large.txt', large)
    const status = place.devctl('status')
    expect(await status.status).toBe(0)
    expect(status.stdout).toContain('100.00%')
  })

  test('a cut connection is reported, local ports stay open, and later saves arrive', async () => {
    line.delay = 20
    const program = await start()
    for (let cut = 1; cut <= 3; cut++) {
      line.cut()
      writeFileSync(here('cut.txt'), `cut ${cut}`)
      await connects()
      await connectedAgain(cut + 1)
      await arrives('cut.txt', `cut ${cut}`)
    }
    expect(program.stderr).toMatch(/; the command runs again as soon as api is connected/)
    expect(program.stderr).not.toContain('the connection was lost;')
    expect(program.process.exitCode).toBeNull()
  })

  test('a connection with random losses loses no saved file', async () => {
    const random = generator(20_261_123)
    await start()
    for (let n = 0; n < 60; n++) {
      writeFileSync(here(`lossy-${n % 20}.txt`), `save ${n}`)
      if (n % 4 === 0) line.cutOne(random())
      await sleep(100)
    }
    for (let n = 40; n < 60; n++) await arrives(`lossy-${n % 20}.txt`, `save ${n}`)
    await eventually('the forward is there', () => asked('after-loss.txt', 'POST').catch(() => undefined))
    await comes('after-loss.txt')
    expect(up!.process.exitCode).toBeNull()
  })

  test('a silent connection is reported, and the session continues after it', async () => {
    const program = await start()
    line.isSilent = true
    line.hold()
    writeFileSync(here('silent.txt'), 'saved in silence')
    const status = place.devctl('status', '--output', 'json')
    const began = Date.now()
    expect(await status.status, status.stderr).toBe(0)
    expect(JSON.parse(status.stdout)).toMatchObject({ dev: 'api', sync: { problems: [], leftOut: { count: 0 } } })
    expect(Date.now() - began).toBeLessThan(40_000)
    // Two pings run, every 10 and every 15 s: the first that fails reports it.
    const told = await eventually(
      'it says that the line is silent',
      async () => /(.*); the command runs again as soon as api is connected/.exec(program.stderr)?.[1],
      { seconds: 210 },
    )
    expect(told).toMatch(/nothing has come from the other side for|does not answer/)
    line.isSilent = false
    line.cut()
    await connectedAgain(2)
    await arrives('silent.txt', 'saved in silence')
  })

  test('status reports that the cluster does not answer, if nothing runs here', async () => {
    line.isSilent = true
    const status = place.devctl('status')
    expect(await status.status).toBe(1)
    expect(status.stderr).toMatch(/no connection to .* in \d+ s|the cluster has not answered within 10 s/)
    line.isSilent = false
    line.cut()
  })
})
