import { describe, expect, test } from 'vitest'
import { factsOf } from '../../../../adapters/forge/api/facts-of.ts'
import { failureOf, forgeServer, impatient, type Reply } from '../../../support/gitops/forge/forge-server.ts'

// Origin of a request's code, from the answers of the forges (https://docs.github.com/rest, https://docs.gitea.com/api,
// https://docs.gitlab.com/api).

const TOKEN = 'a0b1c2d3e4'
const sha = '6dcb09b5b57875f334f61aebed695e2e4193db5e'

async function asked(kind: 'gitea' | 'github' | 'gitlab', ...replies: readonly Reply[]) {
  const server = await forgeServer(...replies)
  const { options } = impatient(2)
  const repository = { kind, web: server.url, path: 'team/shop', token: TOKEN, tokenName: 'the webhook' }
  return { ...server, facts: factsOf(repository, { GITEA_TOKEN: 'other' }, options.retries) }
}

const ann = { id: 5, login: 'ann' }
const pull = (more: object = {}) => ({
  number: 7,
  state: 'open',
  html_url: 'https://git.example.com/team/shop/pulls/7',
  title: 'Login by e-mail',
  user: ann,
  head: { ref: 'feature', sha, repo: { id: 8, clone_url: 'https://git.example.com/ann/shop.git', owner: ann } },
  base: { ref: 'main', repo: { id: 3 } },
  ...more,
})
const facts = {
  number: 7,
  isOpen: true,
  page: 'https://git.example.com/team/shop/pulls/7',
  title: 'Login by e-mail',
  author: { id: '5', login: 'ann' },
  base: '3',
  commit: sha,
  branch: 'feature',
  head: { id: '8', url: 'https://git.example.com/ann/shop.git', owner: '5' },
}

describe.each([
  ['gitea', '/api/v1', `token ${TOKEN}`],
  ['github', '/api/v3', `Bearer ${TOKEN}`],
] as const)('facts of requests on %s', (kind, api, header) => {
  const root = `${api}/repos/team/shop`

  test('pull returns a request, with the repositories by their numbers', async () => {
    const { facts: forge, calls, received } = await asked(kind, { json: pull() })
    expect(await forge.pull(7)).toEqual(facts)
    expect(calls()).toEqual([`GET ${root}/pulls/7`])
    expect(received[0]!.headers.authorization).toBe(header)
  })

  test.each([
    ['closed', { state: 'closed' }, { isOpen: false }],
    ['of a fork that is gone', { head: { ref: 'feature', sha, repo: null } }, { head: undefined }],
    [
      'of the fork of an organization',
      {
        head: { ref: 'feature', sha, repo: { id: 8, clone_url: 'https://a', owner: { id: 5, type: 'Organization' } } },
      },
      { head: { id: '8', url: 'https://a' } },
    ],
  ])('pull returns a request that is %s', async (_, more, wanted) => {
    const { facts: forge } = await asked(kind, { json: pull(more) })
    expect(await forge.pull(7)).toEqual({ ...facts, ...wanted })
  })

  test('pull refuses an answer without an author', async () => {
    const { facts: forge } = await asked(kind, { json: pull({ user: null }) })
    expect((await failureOf(forge.pull(7))).message).toContain('`user` must be an object')
  })

  test.each([
    [{ id: 3, permissions: { push: true } }, true],
    [{ id: 3, permissions: { push: false } }, false],
    [{ id: 3 }, false],
  ])('repository reads from %j whether the token may write: %s', async (json, mayWrite) => {
    const { facts: forge, calls } = await asked(kind, { json })
    expect(await forge.repository()).toEqual({ id: '3', mayWrite })
    expect(calls()).toEqual([`GET ${root}`])
  })

  test.each<readonly [string, Reply, boolean]>([
    ['an administrator', { json: { permission: 'admin', user: ann } }, true],
    ['a writer', { json: { permission: 'write', user: ann } }, true],
    ['a reader', { json: { permission: 'read', user: ann } }, false],
    ['nobody', { json: { permission: 'none', user: ann } }, false],
    ['somebody who has the name now', { json: { permission: 'admin', user: { id: 6, login: 'ann' } } }, false],
    ['no collaborator', { status: 404, json: { message: 'Not Found' } }, false],
    ['the token may not ask', { status: 403, json: { message: 'Must have push access' } }, false],
  ])('mayWrite is decided for an author: %s', async (_, reply, may) => {
    const { facts: forge, calls } = await asked(kind, reply)
    expect(await forge.mayWrite({ id: '5', login: 'ann' })).toBe(may)
    expect(calls()).toEqual([`GET ${root}/collaborators/ann/permission`])
  })

  test('mayWrite rejects when the forge does not give an answer', async () => {
    const limited = { status: 403, headers: { 'x-ratelimit-remaining': '0' }, json: { message: 'rate limit' } }
    for (const reply of [{ status: 502, json: {} }, limited, 'cut'] as const) {
      const { facts: forge } = await asked(kind, reply, reply)
      await expect(forge.mayWrite({ id: '5', login: 'ann' })).rejects.toThrow()
    }
  })

  test('mayWrite escapes the login in the path', async () => {
    const { facts: forge, received } = await asked(kind, { status: 404, json: {} })
    await forge.mayWrite({ id: '5', login: '../../x?a' })
    expect(received[0]!.path).toBe(`${root}/collaborators/../../x?a/permission`) // decoded: it was escaped
  })
})

describe('facts of requests on gitlab', () => {
  const root = '/api/v4/projects/team/shop'
  const merge = (more: object = {}) => ({
    iid: 7,
    state: 'opened',
    web_url: facts.page,
    title: facts.title,
    sha,
    source_branch: 'feature',
    source_project_id: 8,
    target_project_id: 3,
    author: { id: 5, username: 'ann' },
    ...more,
  })
  const project = (more: object = {}) => ({
    id: 8,
    http_url_to_repo: 'https://git.example.com/ann/shop.git',
    namespace: { kind: 'user' },
    owner: { id: 5 },
    ...more,
  })

  test('pull returns a request, with the project of its branch', async () => {
    const { facts: forge, calls, received } = await asked('gitlab', { json: merge() }, { json: project() })
    expect(await forge.pull(7)).toEqual(facts)
    expect(calls()).toEqual([`GET ${root}/merge_requests/7`, 'GET /api/v4/projects/8'])
    expect(received[0]!.headers['private-token']).toBe(TOKEN)
  })

  test.each<readonly [string, object, Reply, object]>([
    ['merged', { state: 'merged' }, { json: project() }, { isOpen: false }],
    ['being merged', { state: 'locked' }, { json: project() }, { isOpen: true }],
    ['without a commit', { sha: null }, { json: project() }, { commit: '' }],
    ['of a fork that is private', {}, { status: 404, json: { message: '404 Project Not Found' } }, { head: undefined }],
    ['of a fork that is gone', { source_project_id: null }, 'cut', { head: undefined }],
    [
      'of the fork of a group',
      {},
      { json: project({ namespace: { kind: 'group' }, owner: undefined }) },
      { head: { id: '8', url: facts.head.url } },
    ],
  ])('pull returns a request that is %s', async (_, more, reply, wanted) => {
    const { facts: forge } = await asked('gitlab', { json: merge(more) }, reply)
    expect(await forge.pull(7)).toEqual({ ...facts, ...wanted })
  })

  test.each([
    [{ project_access: { access_level: 30 }, group_access: null }, true],
    [{ project_access: null, group_access: { access_level: 40 } }, true],
    [{ project_access: { access_level: 20 }, group_access: null }, false],
    [null, false],
  ])('repository reads from %j whether the token may write: %s', async (permissions, mayWrite) => {
    const { facts: forge } = await asked('gitlab', { json: project({ id: 3, permissions }) })
    expect(await forge.repository()).toEqual({ id: '3', mayWrite })
  })

  test.each<readonly [string, Reply, boolean]>([
    ['a developer', { json: { id: 5, access_level: 30, state: 'active' } }, true],
    ['a reporter', { json: { id: 5, access_level: 20, state: 'active' } }, false],
    ['blocked', { json: { id: 5, access_level: 50, state: 'blocked' } }, false],
    ['somebody else', { json: { id: 6, access_level: 50, state: 'active' } }, false],
    ['no member', { status: 404, json: { message: '404 Not found' } }, false],
  ])('mayWrite is decided for an author: %s', async (_, reply, may) => {
    const { facts: forge, calls } = await asked('gitlab', reply)
    expect(await forge.mayWrite({ id: '5', login: 'ann' })).toBe(may)
    expect(calls()).toEqual([`GET ${root}/members/all/5`])
  })
})
