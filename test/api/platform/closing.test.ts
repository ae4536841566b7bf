import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../../platform/server/app.ts'
import { makeParts } from '../../../platform/server/make-parts.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'

// The end of a server, which an upgrade waits for.

describe.skipIf(!process.env.KUBECONFIG)('a server that ends', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await openPlatform()
  })
  afterAll(() => platform?.close())

  test('ends what has no end of its own: live views, logs that are followed, connections of builders', async () => {
    const { token, home } = await platform.person('ann')
    const builders = { default: ['tcp://127.0.0.1:1'], untrusted: [], atOnce: 1 }
    const world = { ...platform.world, settings: { ...platform.world.settings, builders } }
    const app = createApp(world, makeParts(world))
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
    // No line in between: the client may hear that the connection has broken.
    for (const reader of streams) await reader.cancel().catch(() => {})
  })
})
