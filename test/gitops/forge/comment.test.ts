import { describe, expect, test } from 'vitest'
import { forgeOf } from '../../../adapters/forge/forge-of.ts'
import { forgeServer, impatient, type Reply } from './forge-server.ts'

const MARKER = '<!-- devctl preview shop -->'
const body = 'ready'
const text = `${MARKER}\n${body}`

const KINDS = {
  github: {
    env: (url: string) => ({
      GITHUB_SERVER_URL: url,
      GITHUB_API_URL: `${url}/api`,
      GITHUB_TOKEN: 'x',
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'org/shop',
    }),
    all: '/api/repos/org/shop/issues/7/comments',
    one: '/api/repos/org/shop/issues/comments/12',
    change: 'PATCH',
  },
  gitea: {
    env: (url: string) => ({ GITEA_SERVER_URL: url, GITEA_TOKEN: 'x' }),
    all: '/api/v1/repos/org/shop/issues/7/comments',
    one: '/api/v1/repos/org/shop/issues/comments/12',
    change: 'PATCH',
  },
  gitlab: {
    env: (url: string) => ({ CI_SERVER_URL: url, GITLAB_TOKEN: 'x' }),
    all: '/api/v4/projects/org/shop/merge_requests/7/notes',
    one: '/api/v4/projects/org/shop/merge_requests/7/notes/12',
    change: 'PUT',
  },
} as const

describe.each(Object.entries(KINDS))('one comment on %s', (kind, { env, all, one, change }) => {
  const comment = async (...replies: readonly Reply[]) => {
    const server = await forgeServer(...replies)
    const options = { ...impatient().options, forge: kind as keyof typeof KINDS }
    const forge = forgeOf(`${server.url}/org/shop.git`, env(server.url), options)!
    expect(forge.withoutToken).toBeUndefined()
    await forge.requests!.comment(7, { marker: MARKER, body })
    return server
  }
  const list = (page: number) => `GET ${all}?page=${page}&per_page=100&limit=100`

  test('is written', async () => {
    const quoted = { id: 1, body: `somebody quotes ${MARKER}` }
    const { calls, received } = await comment({ json: [quoted, { id: 2, body: null }] }, { status: 201, json: {} })
    expect(calls()).toEqual([list(1), `POST ${all}`])
    expect(received[1]!.body).toEqual({ body: text })
  })

  test('is changed, on whatever page it is', async () => {
    const link = `<https://forge.example.com/next?page=2>; rel="next"`
    const { calls, received } = await comment(
      { headers: { link }, json: [{ id: 1, body: 'x' }] },
      { json: [{ id: 12, body: `${MARKER}\nbefore` }] },
      { json: {} },
    )
    expect(calls()).toEqual([list(1), list(2), `${change} ${one}`])
    expect(received[2]!.body).toEqual({ body: text })
  })
})
