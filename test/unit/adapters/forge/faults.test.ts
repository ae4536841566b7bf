import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { exchange } from '../../../../adapters/forge/api/exchange.ts'
import { ForgeError } from '../../../../adapters/forge/api/failures.ts'
import { pauseAsked } from '../../../../adapters/forge/api/rate-limit.ts'
import { forgeOf } from '../../../../adapters/forge/forge-of.ts'
import { pause } from '../../../../adapters/http/back-off.ts'
import { failureOf, forgeServer, impatient, type Reply } from '../../../support/gitops/forge/forge-server.ts'

const branches = { head: 'h', base: 'main' }
const busy = { status: 502, text: '<html>Bad Gateway</html>' }

async function forge(...replies: readonly Reply[]) {
  const server = await forgeServer(...replies)
  const { waits, told, options } = impatient()
  const env = { GITEA_SERVER_URL: server.url, GITEA_TOKEN: 'secret-token' }
  const { requests } = forgeOf(`${server.url}/o/r`, env, options)!
  return { ...server, requests: requests!, waits, told }
}

describe('temporary failures', () => {
  test.each<[string, Reply]>([
    ['a connection that is cut', 'cut'],
    ['an answer that breaks off', 'half'],
    ['502', busy],
    ['503', { status: 503, json: { message: 'maintenance' } }],
    ['500', { status: 500, json: { message: '' } }],
  ])('a request is retried after %s', async (_, fault) => {
    const { requests, received, waits } = await forge(fault, fault, { json: [] })
    expect(await requests.find(branches)).toBeUndefined()
    expect(received).toHaveLength(3)
    expect(waits[0]).toBeGreaterThanOrEqual(250)
    expect(waits[0]).toBeLessThanOrEqual(500)
    expect(waits[1]).toBeLessThanOrEqual(1000)
  })

  test('a request fails with the last status when its attempts are used up', async () => {
    const { requests, received } = await forge(busy, busy, busy, busy, busy)
    const error = await failureOf(requests.find(branches))
    expect(error.message).toMatch(/^`127\.0\.0\.1:\d+` answers 502 when asked to look for the pull request$/)
    expect(received).toHaveLength(4)
  })

  test('a refused request is not retried', async () => {
    const { requests, received } = await forge({ status: 400, json: { message: 'no' } })
    await failureOf(requests.find(branches))
    expect(received).toHaveLength(1)
  })

  test('a request is retried when nothing listens, and the error says so', async () => {
    const { options, waits } = impatient()
    const env = { GITEA_SERVER_URL: 'http://127.0.0.1:1', GITEA_TOKEN: 't' }
    const { requests } = forgeOf('http://127.0.0.1:1/o/r', env, options)!
    const error = await failureOf(requests!.open({ ...branches, title: 't', body: 'b' }))
    expect(error.message).toBe('could not open a pull request: no answer from `127.0.0.1:1`: nothing listens there')
    expect(error).toMatchObject({ maybeDone: false })
    expect(waits).toHaveLength(3)
  })
})

describe('rate limits', () => {
  test.each<[string, Reply, number]>([
    [
      '429 with seconds',
      { status: 429, headers: { 'retry-after': '7' }, json: { message: 'Too Many Requests' } },
      7000,
    ],
    [
      'a secondary limit',
      { status: 403, headers: { 'retry-after': '30' }, json: { message: 'You have exceeded a secondary rate limit.' } },
      30_000,
    ],
    [
      'a secondary limit without a time',
      { status: 403, json: { message: 'You have exceeded a secondary rate limit.' } },
      60_000,
    ],
  ])('opening a pull request waits and tries again after %s', async (_, limited, milliseconds) => {
    const made = {
      number: 1,
      html_url: 'u',
      title: 't',
      body: 'b',
      head: { ref: 'h', repo_id: 1 },
      base: { ref: 'main', repo_id: 1 },
    }
    const { requests, waits, received, told } = await forge(limited, { status: 201, json: made })
    expect(await requests.open({ ...branches, title: 't', body: 'b' })).toMatchObject({ isNew: true })
    expect(waits).toEqual([milliseconds])
    expect(told).toEqual([expect.stringMatching(`^${milliseconds} ms: Gitea does not accept more requests for now`)])
    expect(received.map(({ method }) => method)).toEqual(['POST', 'POST'])
  })

  test('a long limit is reported at once', async () => {
    const reset = String(Math.floor(Date.now() / 1000) + 1800)
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }
    const { requests, waits } = await forge({
      status: 403,
      headers,
      json: { message: 'API rate limit exceeded for user ID 1.' },
    })
    const error = await failureOf(requests.find(branches))
    expect(error.message).toBe('Gitea does not accept more requests for now: API rate limit exceeded for user ID 1')
    expect(error.hint).toMatch(/^try again in (29|30) min/)
    expect(waits).toEqual([])
  })
})

describe('pauseAsked', () => {
  const now = Date.parse('2030-01-01T00:00:00Z')
  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'Mon, 31 Dec 2029 23:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 5) }, 5000],
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': String(now / 1000 + 5) }, 5000],
    [{ 'x-ratelimit-remaining': '10', 'x-ratelimit-reset': String(now / 1000 + 5) }, undefined],
    [{}, undefined],
  ])('pauseAsked reads the pause from the headers %j', (headers, expected) => {
    expect(pauseAsked(headers, now)).toBe(expected)
  })
})

describe('the signal', () => {
  test('the signal ends a request that is not answered', async () => {
    const { requests } = await forge('hang')
    const signal = AbortSignal.timeout(50)
    expect(await failureOf(requests.find(branches, { signal }))).toBe(signal.reason)
  })

  test('the signal ends the pause between attempts on the real clock', async () => {
    const server = await forgeServer(busy)
    const end = new AbortController()
    const retries = {
      wait: (milliseconds: number, signal: AbortSignal | undefined) => {
        setImmediate(() => end.abort(new Error('enough')))
        return pause(milliseconds, signal)
      },
    }
    const env = { GITEA_SERVER_URL: server.url, GITEA_TOKEN: 't' }
    const { requests } = forgeOf(`${server.url}/o/r`, env, { retries })!
    expect(await failureOf(requests!.find(branches, { signal: end.signal }))).toBe(end.signal.reason)
    expect(server.received).toHaveLength(1)
  })

  test('the signal ends the request for reviewers after the pull request is open', async () => {
    const made = {
      number: 1,
      html_url: 'u',
      title: 't',
      body: 'b',
      head: { ref: 'h', repo_id: 1 },
      base: { ref: 'main', repo_id: 1 },
    }
    const { requests } = await forge({ status: 201, json: made }, 'hang')
    const signal = AbortSignal.timeout(100)
    const opening = requests.open({ ...branches, title: 't', body: 'b', reviewers: ['ann'] }, { signal })
    expect(await failureOf(opening)).toBe(signal.reason)
  })

  test('an aborted signal prevents the request', async () => {
    const { requests, received } = await forge()
    await failureOf(requests.find(branches, { signal: AbortSignal.abort() }))
    expect(received).toEqual([])
  })
})

describe('redirects', () => {
  test('redirects on the same server are followed with the same method', async () => {
    const { requests, received, calls } = await forge(
      { status: 307, headers: { location: '/api/v1/repos/o/new/pulls/3' } },
      { json: { number: 3, html_url: 'u', title: 'n', body: 'b' } },
    )
    await requests.update({ number: 3, url: 'u', title: 't', body: 'b', isDraft: false }, { title: 'n', body: 'b' })
    expect(calls()).toEqual(['PATCH /api/v1/repos/o/r/pulls/3', 'PATCH /api/v1/repos/o/new/pulls/3'])
    expect(received[1]).toMatchObject({
      headers: { authorization: 'token secret-token' },
      body: { title: 'n', body: 'b' },
    })
  })

  test('redirects to another server are refused, because it would get the token', async () => {
    const other = await forgeServer({ json: [] })
    const { requests } = await forge({ status: 301, headers: { location: `${other.url}/api/v1/repos/o/r/pulls` } })
    const error = await failureOf(requests.find(branches))
    expect(error).toBeInstanceOf(ForgeError)
    expect(error.message).toMatch(/redirects to `127\.0\.0\.1:\d+`$/)
    expect(other.received).toEqual([])
  })

  test('redirects in a circle are an error', async () => {
    const circle = { status: 302, headers: { location: '/api/v1/repos/o/r/pulls' } }
    const { requests } = await forge(circle, circle, circle, circle, circle)
    expect((await failureOf(requests.find(branches))).message).toMatch(/redirects in a circle$/)
  })
})

describe('proxies', () => {
  const open: { close(): void }[] = []
  afterEach(() => {
    for (const server of open.splice(0)) server.close()
  })
  const listen = (server: ReturnType<typeof createTcpServer>) =>
    new Promise<number>(resolve => {
      open.push(server)
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)) // it listens at a port
    })
  const message = { method: 'GET', url: new URL('https://forge.example/api'), headers: {}, body: undefined } as const

  test('a connection through a proxy shows only the name of the server to the proxy', async () => {
    const asked: unknown[] = []
    let first: Buffer | undefined
    const target = await listen(
      createTcpServer(
        socket =>
          void socket.once('data', data => {
            first = data
            socket.destroy()
          }),
      ),
    )
    const proxy = createServer()
    proxy.on('connect', (request, client: Socket) => {
      asked.push(request.url, request.headers['proxy-authorization'])
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      const upstream = connect(target, '127.0.0.1')
      client.pipe(upstream).pipe(client)
      client.on('error', () => {})
      upstream.on('close', () => client.destroy())
    })
    const port = await listen(proxy)
    await failureOf(exchange(message, `http://ann:p%40s%s@127.0.0.1:${port}`, AbortSignal.timeout(5000)))
    expect(asked).toEqual(['forge.example:443', `Basic ${Buffer.from('ann:p@s%s').toString('base64')}`])
    // A TLS handshake that names the server: the proxy sees nothing else.
    expect(first?.[0]).toBe(0x16)
    expect(first?.includes('forge.example')).toBe(true)
  })

  test('the refusal of a proxy is reported', async () => {
    const proxy = createServer()
    proxy.on('connect', (_, client) => client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
    const port = await listen(proxy)
    const error = await failureOf(exchange(message, `http://127.0.0.1:${port}`, undefined))
    expect(error.message).toBe(`the proxy \`127.0.0.1:${port}\` answers 407`)
  })
})
