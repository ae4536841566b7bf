import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { connectPlatform } from '../../../platform/session/connect-platform.ts'
import { login } from '../../../platform/session/login.ts'
import { Secret } from '../../../project/contexts/secret.ts'
import { readContexts, saveContext } from '../../../project/contexts/store.ts'
import { makeFolder } from '../../support/cli/folder.ts'

// These tests show the limits of what a server that calls itself a platform can do to the machine of its user.

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers these, by their paths. */
const serveJson = (answers: Readonly<Record<string, unknown>>, status = 200) =>
  serve(({ url = '' }, response) => {
    const value = answers[url.replace('/api/v1', '')]
    response.writeHead(value === undefined ? 404 : status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value ?? {}))
  })

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const signal = AbortSignal.timeout(60_000)
const TOKEN = new Secret('devctl_cli_canary')

describe('a server that calls itself a platform', () => {
  test('an endless response cannot fill the memory', async () => {
    const url = await serve((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1 << 20))) {}
      }
      response.on('drain', more)
      more()
    })
    const error = await refusal(connectPlatform(url, TOKEN, {}).call('GET /info', {}, signal))
    expect(error).toBeInstanceOf(UserError)
    expect((error as UserError).message).toMatch(/its answer is larger than 64 MiB$/)
  })

  test('a redirect does not send the token to another server', async () => {
    const seen: string[] = []
    const other = await serve(({ headers }, response) => {
      seen.push(String(headers.authorization))
      response.end('{}')
    })
    const url = await serve((_, response) => void response.writeHead(307, { location: `${other}/api/v1/me` }).end())
    const error = await refusal(connectPlatform(url, TOKEN, {}).call('GET /me', {}, signal))
    expect((error as UserError).message).toMatch(/is not a devctl platform/)
    expect(seen).toEqual([])
  })

  test('a refusal shows only texts of the server as its hint and notes', async () => {
    const url = await serveJson(
      { '/me': { code: 'platform/x', message: 'no', hint: { a: 1 }, notes: ['why', 7] } },
      403,
    )
    const error = (await refusal(connectPlatform(url, TOKEN, {}).call('GET /me', {}, signal))) as UserError
    expect([error.message, error.hint, error.notes[0], error.notes.length]).toEqual(['no', undefined, 'why', 2])
    const odd = await serveJson({ '/me': { code: 'platform/x', message: 'no', notes: 7 } }, 403)
    expect(await refusal(connectPlatform(odd, TOKEN, {}).call('GET /me', {}, signal))).toBeInstanceOf(UserError)
  })

  test.each([
    ['domain', { domain: 7, kubernetes: { server: 'https://k' } }, { home: 'ann' }],
    ['kubernetes', { domain: 'd', kubernetes: { server: ['https://k'] } }, { home: 'ann' }],
    ['home', { domain: 'd', kubernetes: { server: 'https://k' } }, { home: { name: 'ann' } }],
  ])('login keeps the other contexts when the %s of the platform is invalid', async (_, info, me) => {
    const home = makeFolder()
    await saveContext(home, { name: 'kind', namespace: 'shop' }, true)
    const url = await serveJson({ '/info': { login: [], ...info }, '/me': { login: 'ann', ...me } })
    const input = { url, token: TOKEN, fields: {}, signal, onPage: () => {}, onCode: () => {} }
    const error = await refusal(login({ env: { DEVCTL_HOME: home }, cwd: join(home, '..') }, input))
    expect(error).toBeInstanceOf(UserError)
    expect((error as UserError).message).toContain('is not a devctl platform')
    expect(readContexts(home)).toMatchObject({ current: 'kind', contexts: new Map([['kind', { namespace: 'shop' }]]) })
  })
})
