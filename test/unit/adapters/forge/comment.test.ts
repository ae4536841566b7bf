import { describe, expect, test } from 'vitest'
import { forgeOf } from '../../../../adapters/forge/forge-of.ts'
import { forgeServer, impatient, type Reply } from '../../../support/gitops/forge/forge-server.ts'

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
    user: '/api/user',
    all: '/api/repos/org/shop/issues/7/comments',
    one: '/api/repos/org/shop/issues/comments/12',
    change: 'PATCH',
  },
  gitea: {
    env: (url: string) => ({ GITEA_SERVER_URL: url, GITEA_TOKEN: 'x' }),
    user: '/api/v1/user',
    all: '/api/v1/repos/org/shop/issues/7/comments',
    one: '/api/v1/repos/org/shop/issues/comments/12',
    change: 'PATCH',
  },
  gitlab: {
    env: (url: string) => ({ CI_SERVER_URL: url, GITLAB_TOKEN: 'x' }),
    user: '/api/v4/user',
    all: '/api/v4/projects/org/shop/merge_requests/7/notes',
    one: '/api/v4/projects/org/shop/merge_requests/7/notes/12',
    change: 'PUT',
  },
} as const

describe.each(Object.entries(KINDS))('one comment on %s', (kind, { env, all, one, change, user }) => {
  const comment = async (...replies: readonly Reply[]) => commentKnown({}, ...replies)
  const commentKnown = async (known: { readonly id?: number }, ...replies: readonly Reply[]) => {
    const server = await forgeServer(...replies)
    const options = { ...impatient().options, forge: kind as keyof typeof KINDS }
    const forge = forgeOf(`${server.url}/org/shop.git`, env(server.url), options)!
    expect(forge.withoutToken).toBeUndefined()
    const id = await forge.requests!.comment(7, { marker: MARKER, body, ...known })
    return { ...server, id }
  }
  const list = (page: number) => `GET ${all}?page=${page}&per_page=100&limit=100`

  test('a comment is created when none starts with the marker', async () => {
    const quoted = { id: 1, body: `somebody quotes ${MARKER}` }
    const { calls, received } = await comment({ json: [quoted, { id: 2, body: null }] }, { status: 201, json: {} })
    expect(calls()).toEqual([list(1), `POST ${all}`])
    expect(received[1]!.body).toEqual({ body: text })
  })

  const by = (id: number) => (kind === 'gitlab' ? { author: { id } } : { user: { id, type: 'User' } })
  const planted = { id: 11, body: `${MARKER}\nnot ours`, ...by(666) }
  const own = { id: 12, body: `${MARKER}\nbefore`, ...by(5) }
  const link = `<https://forge.example.com/next?page=2>; rel="next"`

  test("the comment of the token's user is updated, on any page, and no other user's", async () => {
    const { calls, received } = await comment(
      { headers: { link }, json: [{ id: 1, body: 'x' }, planted] },
      { json: { id: 5 } },
      { json: [{ ...planted, id: 13, author: null, user: null }, own] },
      { json: {} },
    )
    expect(calls()).toEqual([list(1), `GET ${user}`, list(2), `${change} ${one}`])
    expect(received[3]!.body).toEqual({ body: text })
  })

  test('a comment is created when all with the marker are by other users', async () => {
    const { calls, received } = await comment({ json: [planted] }, { json: { id: 5 } }, { status: 201, json: {} })
    expect(calls()).toEqual([list(1), `GET ${user}`, `POST ${all}`])
    expect(received[2]!.body).toEqual({ body: text })
  })

  test.each([403, 404])('a comment is created when the old one may not be changed or is missing: %i', async status => {
    const { calls } = await comment(
      { json: [own] },
      { json: { id: 5 } },
      { status, json: {} },
      { status: 201, json: {} },
    )
    expect(calls().slice(2)).toEqual([`${change} ${one}`, `POST ${all}`])
  })

  const limited = {
    status: 403,
    headers: { 'retry-after': '120' },
    json: { message: 'You have exceeded a secondary rate limit' },
  }

  test.each<[string, readonly Reply[]]>([
    ['change the comment', [{ json: [own] }, { json: { id: 5 } }, limited]],
    ['tell whose the token is', [{ json: [own] }, limited]],
  ])('no second comment is created when the rate limit does not allow to %s', async (_, replies) => {
    await expect(comment(...replies, { json: {} }, { status: 201, json: {} })).rejects.toThrow(
      'does not accept more requests for now',
    )
  })

  test('a comment with a known number is updated without a search, or created if it is missing', async () => {
    const changed = await commentKnown({ id: 12 }, { json: {} })
    expect([changed.calls(), changed.id]).toEqual([[`${change} ${one}`], 12])
    const gone = await commentKnown(
      { id: 12 },
      { status: 404, json: {} },
      { json: [] },
      { status: 201, json: { id: 14 } },
    )
    expect([gone.calls(), gone.id]).toEqual([[`${change} ${one}`, list(1), `POST ${all}`], 14])
  })

  test('when the token may not read its own user, only a comment of a GitHub bot is updated', async () => {
    const bot = { ...own, ...(kind === 'github' && { user: { id: 41_898_282, type: 'Bot' } }) }
    const refused = { status: 403, json: { message: 'Resource not accessible by integration' } }
    const { calls } = await comment({ json: [planted, bot] }, refused, { status: 201, json: {} })
    expect(calls().slice(2)).toEqual([kind === 'github' ? `${change} ${one}` : `POST ${all}`])
  })
})
