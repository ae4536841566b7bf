import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectPlatform } from '../../../platform/session/connect-platform.ts'
import { Secret } from '../../../project/contexts/secret.ts'

// The server answers like an ingress controller whose platform has no replica.

let status = 503
const server = createServer((_request, response) => response.writeHead(status).end('no available server'))
let url: string

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const ask = (token: Secret | undefined) => connectPlatform(url, token, {}).call('GET /info', {})

test.each([404, 502, 503, 504])('a response with status %i means that the platform does not answer', async code => {
  status = code
  await expect(ask(new Secret('devctl_token'))).rejects.toMatchObject({
    message: `the platform \`${url}\` does not answer: what is before it says status ${code}`,
    hint: expect.stringContaining('it may be starting again'),
  })
})

test('any other response, or one without a login, is reported as no devctl platform', async () => {
  status = 200
  await expect(ask(new Secret('devctl_token'))).rejects.toThrow('is not a devctl platform')
  status = 404
  await expect(ask(undefined)).rejects.toThrow('is not a devctl platform')
})
