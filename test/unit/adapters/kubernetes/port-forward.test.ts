import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { openPortForward } from '../../../../adapters/kubernetes/port-forward.ts'
import { startExecServer } from '../../../support/exec-server.ts'

/** Opens a port forward to a Pod that does as `serve` says. */
async function forwardTo(serve: (socket: WebSocket) => unknown, linger = 10_000): Promise<Duplex> {
  const access = await startExecServer('v4.channel.k8s.io', socket => {
    for (const channel of [0, 1]) socket.send(Buffer.from([channel, 80, 0]))
    serve(socket)
  })
  return openPortForward(access, { pod: 'p', namespace: 'n', port: 80 }, {}, { linger })
}

/** Sends bytes to a client as fast as it reads them. */
async function send(socket: WebSocket, size: number): Promise<void> {
  const frame = Buffer.alloc(50_001)
  for (let left = size; left > 0; left -= 50_000) {
    while (socket.bufferedAmount > 500_000) await sleep(5)
    socket.send(frame)
  }
}

/** Returns the number of bytes until the end of a stream. */
async function sizeOf(stream: Duplex): Promise<number> {
  let size = 0
  for await (const part of stream) size += part.length
  return size
}

describe('openPortForward', () => {
  test.each<[string, (stream: Duplex) => void]>([
    ['says nothing', () => {}],
    ['still writes', stream => void stream.write(Buffer.alloc(1000))],
    ['has ended its side', stream => void stream.end('request')],
  ])('a late reader that %s gets everything that the Pod has sent before it closed', async (_, use) => {
    const stream = await forwardTo(socket => {
      socket.send(Buffer.alloc(10_001))
      socket.close()
    })
    await once(stream, 'readable')
    await sleep(50)
    use(stream)
    await sleep(10)
    expect(await sizeOf(stream)).toBe(10_000)
    if (!stream.closed) await once(stream, 'close')
    expect(stream.errored).toBeNull()
  })

  test('a connection that is lost ends the stream with an error', async () => {
    const stream = await forwardTo(socket => socket.send(Buffer.alloc(10_001), () => socket.terminate()))
    await expect(sizeOf(stream)).rejects.toThrow('was cut')
  })

  test('a reader that stalls for longer than a Pod may be silent loses nothing', async () => {
    const size = 20_000_000
    const stream = await forwardTo(async socket => {
      await send(socket, size)
      socket.close()
    }, 100)
    stream.end('request')
    await once(stream, 'readable')
    await sleep(400)
    expect(await sizeOf(stream)).toBe(size)
  })

  test('a Pod that is silent after the other side has ended is disconnected', async () => {
    const stream = await forwardTo(socket => send(socket, 10_000), 100)
    stream.end('request')
    expect(await sizeOf(stream)).toBe(50_000)
  })
})
