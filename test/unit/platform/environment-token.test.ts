import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openSession } from '../../../api/open-session.ts'
import { Secret } from '../../../project/contexts/secret.ts'
import { readContexts, saveContext } from '../../../project/contexts/store.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const TOKEN = 'devctl_api_canary'

describe('sessions of `DEVCTL_URL` and `DEVCTL_TOKEN`', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  /** Starts a platform with this domain, and returns its URL and the paths that it was asked for. */
  async function serve(domain: unknown) {
    const asked: string[] = []
    const answers: Readonly<Record<string, unknown>> = {
      '/info': { version: '0.1.0', minCli: '0.0.0', domain, login: [], kubernetes: { server: 'https://k' } },
      '/me': { id: 'a'.repeat(16), login: 'ann', role: 'developer', home: 'ann' },
    }
    const server = createServer(({ url = '' }, response) => {
      const path = url.replace('/api/v1', '')
      asked.push(path)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[path]))
    })
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
  }

  const around = (env: Readonly<Record<string, string>>) => {
    const home = makeFolder()
    return { env: { DEVCTL_HOME: home, ...env }, cwd: join(home, '..') }
  }
  const signal = AbortSignal.timeout(60_000)

  test('the domain is that of the platform, which is asked once; nothing is stored', async () => {
    const { url, asked } = await serve('dev.example.com')
    const here = around({ DEVCTL_URL: url, DEVCTL_TOKEN: TOKEN })
    const { target } = await openSession(here, {}, { signal })
    expect(target).toMatchObject({ context: url, namespace: 'ann', stored: { name: url, domain: 'dev.example.com' } })
    expect(asked).toEqual(['/me', '/info'])
    expect(readContexts(here.env.DEVCTL_HOME)).toEqual({ current: undefined, contexts: new Map() })
  })

  test.each(['', undefined, 7])('a session has no domain if the platform returns %j', async domain => {
    const { url } = await serve(domain)
    const { target } = await openSession(around({ DEVCTL_URL: url, DEVCTL_TOKEN: TOKEN }), {}, { signal })
    expect(target.stored.domain).toBeUndefined()
  })

  test('a session after a login uses the stored domain, and does not ask the platform', async () => {
    const { url, asked } = await serve('dev.example.com')
    const here = around({})
    const stored = { name: url, token: new Secret(TOKEN), namespace: 'shop', kubernetes: { server: 'https://k' } }
    await saveContext(here.env.DEVCTL_HOME, stored, true)
    const domain = async () => (await openSession(here, {}, { signal })).target.stored.domain
    expect(await domain()).toBeUndefined()
    await saveContext(here.env.DEVCTL_HOME, { name: url, domain: 'own.example.com' }, true)
    expect(await domain()).toBe('own.example.com')
    expect(asked).toEqual([])
  })
})
