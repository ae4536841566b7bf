import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { isOlder, MIN_CLI } from '../../../../platform/rules/cli-version.ts'
import { platformCredential } from '../../../../platform/session/access.ts'
import { login } from '../../../../platform/session/login.ts'
import { Secret } from '../../../../project/contexts/secret.ts'
import { readContexts } from '../../../../project/contexts/store.ts'
import { version } from '../../../../project/version.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test.each([
  ['0.1.0', '0.1.0', false],
  ['0.1.9', '0.1.10', true],
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '0.99.99', false],
  ['0.2.0', '1.0.0', true],
  ['0.2.0-dev.1', '0.2.0', false],
  ['v0.1.0', '0.2.0', true],
  ['0.1.0', 'latest', false],
  ['', '0.1.0', false],
])('isOlder compares %s with %s', (one, than, is) => {
  expect(isOlder(one, than)).toBe(is)
})

test('the server of this version works with the command line of this version', () => {
  expect(MIN_CLI).toMatch(/^\d+\.\d+\.\d+$/)
  expect(isOlder(version(), MIN_CLI)).toBe(false)
})

describe('a platform that needs a newer command line', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** Starts a platform, and returns its URL and the paths that were requested. */
  async function serve(minCli: string) {
    const asked: string[] = []
    const answers: Readonly<Record<string, unknown>> = {
      '/info': { version: '99.1.0', minCli, domain: 'd', login: [], kubernetes: { server: 'https://k' } },
      '/me': { id: 'a'.repeat(16), login: 'ann', role: 'developer', home: 'ann' },
      '/kube-token': { token: 't', expires: new Date(Date.now() + 3600_000).toISOString() },
    }
    server = createServer(({ url = '' }, response) => {
      const path = url.replace('/api/v1', '')
      asked.push(path)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[path]))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
  }

  const signal = AbortSignal.timeout(60_000)
  const token = new Secret('devctl_cli_canary')
  const around = () => {
    const home = makeFolder()
    return { env: { DEVCTL_HOME: home }, cwd: join(home, '..') }
  }
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (thrown: unknown) => thrown as UserError,
    )

  test('login reports that a newer command line is needed, and stores no context', async () => {
    const { url, asked } = await serve('99.0.0')
    const here = around()
    const input = { url, token, fields: {}, signal, onPage: () => {}, onCode: () => {} }
    const error = await refusal(login(here, input))
    expect(error).toBeInstanceOf(UserError)
    expect([error?.message, error?.hint]).toEqual([
      `this devctl has the version ${version()}, and the platform ${new URL(url).host} needs 99.0.0 or later`,
      'upgrade devctl to the version of the platform, 99.1.0, and run the command again',
    ])
    expect(asked).toEqual(['/info'])
    expect(readContexts(here.env.DEVCTL_HOME).current).toBeUndefined()
  })

  test('a stored login reports that a newer command line is needed', async () => {
    const { url, asked } = await serve('99.0.0')
    const stored = { name: url, token, kubernetes: { server: 'https://k' } }
    const error = await refusal(platformCredential(around(), { context: url, stored }, signal))
    expect(error?.message).toContain('needs 99.0.0 or later')
    expect(asked).toEqual(['/info'])
  })

  test('the needed version is requested once, and only for a new token of Kubernetes', async () => {
    const { url, asked } = await serve(MIN_CLI)
    await platformCredential(around(), { context: url, stored: { name: url, token } }, signal)
    expect(asked).toEqual(['/info', '/kube-token'])
    const kubeToken = { token: new Secret('t'), expires: new Date(Date.now() + 3600_000).toISOString() }
    const kept = { name: url, token, kubernetes: { server: 'https://k' }, kubeToken }
    await platformCredential(around(), { context: url, stored: kept }, signal)
    expect(asked).toEqual(['/info', '/kube-token'])
  })
})
