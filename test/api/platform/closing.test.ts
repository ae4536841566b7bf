import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isEndOfRun } from '../../../cli/run/platform/end-of-run.ts'
import { createServices } from '../../../platform/server/create-services.ts'
import { createApp } from '../../../platform/server/http/app.ts'
import { RunController } from '../../../platform/server/runs/run-controller.ts'
import { connectPlatform } from '../../../platform/session/connect-platform.ts'
import { Secret } from '../../../project/contexts/secret.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'

// Tests the end of a server, which an upgrade waits for.

describe.skipIf(!process.env.KUBECONFIG)('a server that ends', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await openPlatform()
  })
  afterAll(() => platform?.close())

  test('a server ends live views, followed logs and builder connections when it closes', async () => {
    const { token, home } = await platform.person('ann')
    const builders = { default: ['tcp://127.0.0.1:1'], untrusted: [], atOnce: 1 }
    const world = { ...platform.world, settings: { ...platform.world.settings, builders } }
    const app = createApp(world, createServices(world))
    const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    const body = { namespace: home, environment: 'shop', action: 'deploy', repository: 'https://git.example.com/x' }
    const { body: run } = await platform.call('POST /runs', { token, body })
    const follow = async (path: string) => {
      const answer = await fetch(new URL(`/api/v1${path}`, url), { headers: { authorization: `Bearer ${token}` } })
      const reader = answer.body!.getReader()
      let text = ''
      while (!text.includes('data: ')) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`${path} has ended: ${text}`)
        text += new TextDecoder().decode(value)
      }
      return reader
    }
    const streams = [await follow(`/namespaces/${home}/live`), await follow(`/runs/${run.id}/log`)]
    const socket = connect(Number(url.port), url.hostname).on('error', () => {})
    const upgrade = 'Connection: Upgrade\r\nUpgrade: devctl-tunnel\r\n'
    socket.write(
      `GET /api/v1/builders/connect?namespace=${home} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${upgrade}\r\n`,
    )
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 101 /)
    const gone = once(socket, 'close')
    const ended = await Promise.race([app.close().then(() => 'ended'), sleep(20_000, 'it goes on', { ref: false })])
    expect(ended).toBe('ended')
    await gone
    // Cancels without a pause: the client may receive an error that the connection was cut.
    for (const reader of streams) await reader.cancel().catch(() => {})
  })

  test('a restart of the server interrupts neither a followed log nor a request', async () => {
    const { token, home } = await platform.person('bob')
    const start = () => createApp(platform.world, createServices(platform.world))
    const first = start()
    const url = await first.listen({ port: 0, host: '127.0.0.1' })
    const { port } = new URL(url)
    const body = { namespace: home, environment: 'shop', action: 'deploy', repository: 'https://git.example.com/x' }
    const { body: run } = await platform.call('POST /runs', { token, body })
    const client = connectPlatform(url, new Secret(token), {})
    const signal = AbortSignal.timeout(60_000)
    const states: string[] = []
    const following = (async () => {
      const events = client.follow('GET /runs/:id/log', { params: { id: run.id } }, signal, isEndOfRun)
      for await (const event of events) if (event.type === 'state') states.push(event.run.state)
    })()
    await eventually('it is followed', async () => states.length > 0 || undefined)
    await first.close()
    const asked = client.call('GET /me', {}, signal)
    // Responds as an ingress controller does for a Service without endpoints.
    const between = createServer((_, response) => void response.writeHead(404).end('404 page not found\n'))
    between.listen(Number(port), '127.0.0.1')
    await sleep(1000)
    between.closeAllConnections()
    await new Promise(resolve => between.close(resolve))
    const next = start()
    await next.listen({ port: Number(port), host: '127.0.0.1' })
    try {
      expect((await asked).login).toContain('bob')
      expect((await platform.call('POST /runs/:id/cancel', { token, params: { id: run.id } })).status).toBeLessThan(300)
      // The leader completes the cancellation.
      const keeper = new RunController(platform.world, platform.parts)
      await keeper.run(signal)
      await keeper.settled()
      await following
      expect(states.at(-1)).toBe('cancelled')
    } finally {
      await next.close()
    }
  })
})
