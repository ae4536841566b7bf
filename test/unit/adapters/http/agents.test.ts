import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { agentFor } from '../../../../adapters/http/agents.ts'
import { exchange, NoAnswer } from '../../../../adapters/http/exchange.ts'
import { upgradeTo } from '../../../../adapters/http/upgrade.ts'

/** Starts a proxy that answers nothing. Returns its address, and its first connection. */
async function silentProxy() {
  const open: Socket[] = []
  const server = createServer(socket => void open.push(socket.on('error', () => {})))
  const connected = once(server, 'connection').then(([socket]: Socket[]) => socket!.resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { proxy: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connected }
}

const server = new URL('https://example.com')
const never = Number.POSITIVE_INFINITY

/** Sends a request through a silent proxy, with a time limit for the connection. */
async function request(connect: number, signal?: AbortSignal) {
  const { proxy } = await silentProxy()
  const message = { method: 'GET', path: '/', headers: {} } as const
  return exchange(server, message, await agentFor(server, proxy), { connect, answer: never, whole: never }, signal)
}

/** Asks for an upgrade through a silent proxy. */
async function upgrade(within: number, signal: AbortSignal) {
  const { proxy } = await silentProxy()
  return upgradeTo({ url: server, protocol: 'h2c', headers: {}, within, signal }, await agentFor(server, proxy))
}

describe('a proxy that accepts a connection and does not answer', { timeout: 5000 }, () => {
  test('the time limit of a request is kept', async () => {
    await expect(request(50)).rejects.toBeInstanceOf(NoAnswer)
  })

  test('a request that is aborted ends', async () => {
    await expect(request(60_000, AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('a tunnel is given up after a time, so that it keeps no process alive', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { proxy, connected } = await silentProxy()
    const message = { method: 'GET', path: '/', headers: {} } as const
    const limits = { connect: never, answer: never, whole: never }
    const sending = exchange(server, message, await agentFor(server, proxy), limits, undefined)
    const failing = expect(sending).rejects.toThrow(/^the proxy `.*` cannot be reached: no answer within 10 s$/)
    const socket = await connected
    vi.advanceTimersByTime(10_000)
    await failing
    await once(socket, 'close')
  })

  test('an IPv6 address is in brackets in the request for a tunnel', async () => {
    const { proxy, connected } = await silentProxy()
    const target = new URL('https://[fd00::1]:6443')
    const message = { method: 'GET', path: '/', headers: {} } as const
    const limits = { connect: 1000, answer: never, whole: never }
    exchange(target, message, await agentFor(target, proxy), limits, undefined).catch(() => {})
    const [bytes] = await once(await connected, 'data')
    expect(String(bytes)).toMatch(/^CONNECT \[fd00::1\]:6443 HTTP\/1\.1\r\n/)
  })

  test('the time limit of an upgrade is kept', async () => {
    await expect(upgrade(50, new AbortController().signal)).rejects.toBeInstanceOf(NoAnswer)
  })

  test('an upgrade that is aborted ends', async () => {
    await expect(upgrade(60_000, AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})
