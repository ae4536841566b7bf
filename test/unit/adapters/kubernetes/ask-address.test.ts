import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { askAddress } from '../../../../adapters/kubernetes/ask-address.ts'
import { withAnswers } from '../../../../environment/endpoints/asked.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Starts a server with a listener, and returns its port. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `${(server.address() as AddressInfo).port}`
}

/** Requests a host that does not resolve, with this machine as the entry. */
const ask = (port: string, host = 'web.invalid', timeout = 2000) =>
  askAddress(`http://${host}:${port}/`, { entry: '127.0.0.1', timeout })

test('askAddress gets an answer from a host that only the entry of the cluster leads to', async () => {
  const hosts: (string | undefined)[] = []
  const port = await serve((request, response) => {
    hosts.push(request.headers.host)
    response.end('hello')
  })
  expect(await ask(port)).toEqual({ status: 200 })
  expect(hosts).toEqual([`web.invalid:${port}`])
})

test('askAddress distinguishes a 404 of the ingress from one of the application', async () => {
  const ingress = await serve((_, response) => response.writeHead(404).end('no route'))
  expect(await ask(ingress)).toEqual({ status: 404, isLikeNoRoute: true })
  const application = await serve(({ headers }, response) =>
    response.writeHead(404).end(headers.host?.startsWith('web.') ? 'no such page' : 'no route'),
  )
  expect(await ask(application)).toEqual({ status: 404 })
})

test('askAddress reports a refused connection, a missing answer and an unknown name', async () => {
  expect(await ask('1')).toEqual({ failure: 'the connection was refused' })
  const silent = await serve(() => {})
  expect(await ask(silent, 'web.invalid', 300)).toEqual({ failure: 'no answer within 0.3 s' })
  expect(await askAddress('http://web.invalid/')).toEqual({
    failure: 'its name does not resolve, and its route has no address yet',
  })
})

test('askAddress reports a server that does not speak TLS', async () => {
  const port = await serve((_, response) => response.end())
  expect(await askAddress(`https://web.invalid:${port}/`, { entry: '127.0.0.1' })).toEqual({
    failure: 'it does not speak TLS as it should',
  })
})

test.each([
  [{ status: 200 }, { isReady: true, status: 200 }],
  [{ status: 404 }, { isReady: true, status: 404 }],
  [
    { status: 404, isLikeNoRoute: true },
    { isReady: false, reason: 'answers 404, as for hosts without a route' },
  ],
  [{ status: 502 }, { isReady: false, reason: 'answers 502' }],
  [{ failure: 'no answer within 3 s' }, { isReady: false, reason: 'no answer within 3 s' }],
  [
    { status: 200, certificate: 'it has expired' },
    { isReady: true, certificate: 'it has expired' },
  ],
])('withAnswers turns %j into %j', async (answer, expected) => {
  const endpoint = { url: 'https://web.example.com', services: ['web'], isReady: true, entry: '10.0.0.1' }
  expect(await withAnswers([endpoint], async () => answer)).toMatchObject([expected])
})

test('withAnswers asks neither an endpoint that is not ready nor a wildcard host', async () => {
  const endpoints = [
    { url: 'https://web.example.com', services: ['web'], isReady: false, reason: 'no Pod of `web` is ready' },
    { url: 'https://*.example.com', services: ['web'], isReady: true },
  ]
  const never = () => Promise.reject(new Error('it was asked'))
  expect(await withAnswers(endpoints, never)).toEqual(endpoints)
})
