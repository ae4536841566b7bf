import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A refusal, as a platform answers it. */
export class Refused {
  readonly status: number
  readonly body: { readonly code: string; readonly message: string; readonly hint?: string }

  constructor(status: number, body: Refused['body']) {
    this.status = status
    this.body = body
  }
}

export const NOT_LOGGED_IN = new Refused(401, {
  code: 'platform/login',
  message: 'log in first',
  hint: '`devctl context use URL` logs in',
})

export const noNamespace = (name: string) =>
  new Refused(404, {
    code: 'platform/no-namespace',
    message: `namespace \`${name}\` does not exist, or you are not a member of it`,
    hint: '`devctl namespace list` lists yours; its owner can share it with you',
  })

const ANN = { id: 'a'.repeat(16), login: 'ann', role: 'developer', home: 'ann' }
const INFO = {
  version: '0.1.0',
  minCli: '0.0.0',
  domain: 'dev.example.com',
  login: [],
  kubernetes: { server: 'https://127.0.0.1:9' },
}

/**
 * Serves a platform until the end of the test, with these answers besides those about itself (`GET /info`) and about
 * the user (`GET /me`).
 */
export async function servePlatform(
  answers: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const all: Readonly<Record<string, unknown>> = { 'GET /info': INFO, 'GET /me': ANN, ...answers }
  const asked: string[] = []
  const server = createServer((request, response) => {
    const call = `${request.method} ${request.url?.replace('/api/v1', '').replace(/\?.*/, '')}`
    asked.push(call)
    const answer = all[call] ?? new Refused(404, { code: 'platform/no-route', message: `no ${call}` })
    const [status, body] = answer instanceof Refused ? [answer.status, answer.body] : [200, answer]
    request.resume()
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
