import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checksRef } from '../../../platform/records/dependency-checks.ts'
import type { Settings } from '../../../platform/server/context.ts'
import { dependenciesTask } from '../../../platform/server/leader/dependencies.ts'
import { freePort } from '../../support/develop/free-port.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../../support/gitops/certificates.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { type StubIssuer, stubIssuer } from '../../support/platform/stub-issuer.ts'

// Tests the checks of the servers that a platform needs, with the rights of its own account.

describe.skipIf(!process.env.KUBECONFIG)('the servers that a platform needs', () => {
  let platform: TestPlatform
  let admin: Person
  let issuer: StubIssuer
  let untrusted: Server
  beforeAll(async () => {
    platform = await openPlatform()
    admin = await platform.person('ann', 'admin')
    issuer = await stubIssuer()
    untrusted = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (_, response) => response.end('{}'))
    await once(untrusted.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(async () => {
    await platform?.cluster.delete(checksRef)
    await platform?.close()
    issuer?.close()
    untrusted?.close()
  })

  const providerAt = (address: string): Settings['providers'][number] => ({
    kind: 'oidc',
    id: 'oidc',
    name: 'Git',
    issuer: address,
    clientId: 'devctl',
    allow: [],
  })
  /** Returns the overview after a check with other settings, which the server reads at its start. */
  async function overviewWith(settings: Partial<Settings>, check = true) {
    const { world, parts } = platform
    Object.assign(world.settings, settings)
    if (check) await dependenciesTask(world, parts.hooks).run(AbortSignal.timeout(30_000))
    const { body } = await platform.call('GET /admin/overview', { token: admin.token })
    const states = body.dependencies.map(({ kind, state }) => `${kind} ${state}`)
    const isAbout = ({ message }: { readonly message: string }) => /log in with|webhooks of/.test(message)
    return { states, problems: body.problems.filter(isAbout) }
  }

  test('a dependency is unknown before its check, then reached, and no credentials are sent', async () => {
    const settings = { providers: [providerAt(issuer.issuer)] }
    expect(await overviewWith(settings, false)).toEqual({ states: ['oidc unknown'], problems: [] })
    expect(await overviewWith(settings)).toEqual({ states: ['oidc reached'], problems: [] })
    expect(issuer.requests).toEqual(['/.well-known/openid-configuration'])
    platform.later = 3_600_000
    expect((await overviewWith(settings, false)).states).toEqual(['oidc unknown'])
    platform.later = 0
  })

  test('a provider that is down is reported with a hint', async () => {
    const address = `https://127.0.0.1:${await freePort()}`
    expect(await overviewWith({ providers: [providerAt(address)] })).toEqual({
      states: ['oidc failed'],
      problems: [
        {
          message: `people cannot log in with \`Git\`: nothing listens at \`${address}\`, seen from the server`,
          hint: expect.stringContaining('firewalls and network policies'),
        },
      ],
    })
  })

  test('a provider and a forge with a certificate of a private authority are one problem', async () => {
    const host = `127.0.0.1:${(untrusted.address() as AddressInfo).port}`
    const settings = {
      providers: [providerAt(`https://${host}`)],
      forges: [{ kind: 'gitea', url: `https://${host}` }],
    } as const
    expect(await overviewWith(settings)).toEqual({
      states: ['oidc failed', 'forge failed'],
      problems: [
        {
          message: `people cannot log in with \`Git\`, and webhooks of \`${host}\` do not work: the server does not trust the certificate of \`${host}\`: self-signed certificate`,
          hint: expect.stringContaining('`devctl platform install --ca FILE`'),
        },
      ],
    })
  })

  test('a provider with another issuer is reported with the issuer that it names', async () => {
    issuer.fault = (path, response) => {
      if (path.endsWith('openid-configuration')) response.end('{"issuer":"https://login.example.com"}')
      return path.endsWith('openid-configuration')
    }
    const { problems } = await overviewWith({ providers: [providerAt(issuer.issuer)], forges: [] })
    expect(problems).toEqual([
      {
        message: `people cannot log in with \`Git\`: the provider at \`${issuer.issuer}\` calls itself \`https://login.example.com\``,
        hint: 'if it is the right provider, name it as it does itself: `devctl platform install --oidc https://login.example.com --oidc-client-id ID`',
      },
    ])
  })

  test('a platform without dependencies has no record of them', async () => {
    expect(await overviewWith({ providers: [] })).toEqual({ states: [], problems: [] })
    expect(await platform.cluster.get(checksRef)).toBeUndefined()
  })
})
