import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MIN_CLI } from '../../../platform/rules/cli-version.ts'
import { login } from '../../../platform/session/login.ts'
import { Secret } from '../../../project/contexts/secret.ts'
import { readContexts } from '../../../project/contexts/store.ts'
import { makeFolder } from '../../support/cli/folder.ts'

/** Logs in to a platform that reports this about itself, and returns the stored context. */
async function remembered(info: object) {
  const answers: Readonly<Record<string, object>> = {
    '/info': { version: MIN_CLI, minCli: MIN_CLI, login: [], kubernetes: { server: 'https://k' }, ...info },
    '/me': { id: 'a'.repeat(16), login: 'ann', role: 'developer', home: 'ann' },
  }
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[url.replace('/api/v1', '')]))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const home = makeFolder()
  const around = { env: { DEVCTL_HOME: home }, cwd: join(home, '..') }
  const token = new Secret('devctl_cli_x')
  const signal = AbortSignal.timeout(20_000)
  await login(around, { url, token, fields: {}, signal, onPage: () => {}, onCode: () => {} })
  return readContexts(home).contexts.get(url)
}

test('a login remembers the domain and the registry of the platform', async () => {
  expect(await remembered({ domain: 'd.example.com', registry: 'images.d.example.com' })).toMatchObject({
    domain: 'd.example.com',
    platformRegistry: 'images.d.example.com',
    namespace: 'ann',
  })
})

test('a login remembers that a platform has no registry', async () => {
  const found = await remembered({ domain: 'd.example.com' })
  expect(found).toMatchObject({ platformRegistry: '-' })
  expect(found).not.toHaveProperty('registry')
})
