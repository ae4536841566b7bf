import { describe, expect, test } from 'vitest'
import { webhooksOf } from '../../../../../adapters/forge/api/facts-of.ts'
import { failureOf, forgeServer, impatient, type Reply } from '../../../../support/gitops/forge/forge-server.ts'

// Webhooks in the settings of a repository (https://docs.github.com/rest/repos/webhooks, https://docs.gitea.com/api,
// https://docs.gitlab.com/api/project_webhooks).

const address = 'https://platform.dev.example.com/api/v1/hooks/x/abc'
const secret = 'c2VjcmV0'

async function asked(kind: 'gitea' | 'github' | 'gitlab', ...replies: readonly Reply[]) {
  const server = await forgeServer(...replies)
  const repository = { kind, web: server.url, path: 'team/shop', token: 'a0b1', tokenName: 'webhook' }
  return { ...server, webhooks: webhooksOf(repository, {}, impatient(2).options.retries) }
}

describe.each([
  [
    'gitea',
    '/api/v1/repos/team/shop/hooks',
    {
      type: 'gitea',
      active: true,
      events: ['pull_request_only', 'pull_request_sync'],
      config: { url: address, content_type: 'json', secret },
    },
    '`write:repository`',
  ],
  [
    'github',
    '/api/v3/repos/team/shop/hooks',
    {
      name: 'web',
      active: true,
      events: ['pull_request'],
      config: { url: address, content_type: 'json', secret, insecure_ssl: '0' },
    },
    '"Webhooks: write"',
  ],
  [
    'gitlab',
    '/api/v4/projects/team/shop/hooks',
    {
      url: address,
      token: secret,
      merge_requests_events: true,
      push_events: false,
      enable_ssl_verification: true,
    },
    'role Maintainer',
  ],
] as const)('webhooks of %s', (kind, path, body, permission) => {
  test('a webhook is added for the events of pull requests and deleted by its number', async () => {
    const { webhooks, received, calls } = await asked(kind, { status: 201, json: { id: 12 } }, { status: 204 })
    expect(await webhooks.add({ address, secret })).toBe(12)
    await webhooks.remove(12)
    expect(calls()).toEqual([`POST ${path}`, `DELETE ${path}/12`])
    expect(received[0]!.body).toEqual(body)
  })

  test('remove succeeds when the webhook is missing', async () => {
    const { webhooks } = await asked(kind, { status: 404, json: { message: 'Not Found' } })
    await webhooks.remove(12)
  })

  test('a refusal names the permission that the token needs', async () => {
    const { webhooks } = await asked(kind, { status: 403, json: { message: 'no' } })
    const failure = await failureOf(webhooks.add({ address, secret }))
    expect(failure.message).toMatch(/does not let the token of `webhook` add a webhook: no$/)
    expect(failure.hint).toContain(permission)
  })

  test('add does not try again when the result of the first attempt is unknown', async () => {
    const { webhooks, calls } = await asked(kind, { status: 502 }, { status: 201, json: { id: 13 } })
    await failureOf(webhooks.add({ address, secret }))
    expect(calls()).toHaveLength(1)
  })
})
