import { expect, onTestFinished, test } from 'vitest'
import type { PlatformUser } from '../../../../../platform/records/user.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { CiExchange } from '../../../../../platform/server/login/ci-exchange.ts'
import { stubIssuer } from '../../../../support/platform/stub-issuer.ts'

const AUDIENCE = 'https://platform.dev.example.com'
const DISCOVERY = '/.well-known/openid-configuration'

test('moved keys of an issuer are found again, and a failing issuer keeps its last address', async () => {
  const stub = await stubIssuer()
  onTestFinished(() => stub.close())
  const keys = await (await fetch(`${stub.issuer}/keys`)).text()
  let later = 0
  const settings = {
    url: AUDIENCE,
    ci: [{ kind: 'github', issuer: stub.issuer, rules: [{ repository: '123', prefix: 'shop-' }] }],
  }
  const world = { settings, now: () => Date.now() + later } as unknown as ServerContext
  const accounts = {
    users: { loggedIn: async () => ({ id: 'a'.repeat(16), login: 'ci:acme/shop' }) as PlatformUser },
    tokens: { issue: async () => ({ text: 'issued' }) },
  } as unknown as ConstructorParameters<typeof CiExchange>[1]
  const exchange = new CiExchange(world, accounts)
  const jwt = await stub.sign({
    ...{ iss: stub.issuer, aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 3000 },
    ...{ repository_id: '123', repository_owner_id: '9', ref: 'refs/heads/main', event_name: 'push' },
  })
  const asked = async () => {
    stub.requests.length = 0
    expect((await exchange.exchange(jwt)).issued).toEqual({ text: 'issued' })
    return [...stub.requests]
  }
  expect(await asked()).toEqual([DISCOVERY, '/keys'])
  expect(await asked()).toEqual([])
  later = 601_000
  stub.fault = (path, response) => {
    if (path === DISCOVERY) response.writeHead(503).end()
    return path === DISCOVERY
  }
  expect(await asked()).toEqual([DISCOVERY])
  expect(await asked()).toEqual([])
  later += 31_000
  stub.fault = (path, response) => {
    const body = path === DISCOVERY ? JSON.stringify({ issuer: stub.issuer, jwks_uri: `${stub.issuer}/moved` }) : keys
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    return true
  }
  expect(await asked()).toEqual([DISCOVERY, '/moved'])
  expect(await asked()).toEqual([])
})
