import { describe, expect, test } from 'vitest'
import { forgeOf } from '../../../../adapters/forge/forge-of.ts'
import { failureOf, forgeServer, impatient, type Reply } from '../../../support/gitops/forge/forge-server.ts'

const TOKEN = 'a0b1c2d3e4'
const branches = { head: 'devctl/staging/shop', base: 'release/1' }
const text = { title: 'deploy(shop/staging): web 1.4.3', body: 'What changed.' }
const root = '/api/v1/repos/org/deploy'

/** Returns a `PullRequest` of https://docs.gitea.com/api/, without the fields that no code reads. */
const pull = (more: object = {}) => ({
  id: 5,
  number: 3,
  state: 'open',
  html_url: 'https://gitea.example.com/org/deploy/pulls/3',
  title: text.title,
  body: text.body,
  draft: false,
  head: { label: branches.head, ref: branches.head, sha: '6dcb09b', repo_id: 8 },
  base: { label: branches.base, ref: branches.base, sha: '9049f12', repo_id: 8 },
  ...more,
})
const next = {
  link: '<https://gitea.example.com/api/v1/repos/org/deploy/pulls?page=2>; rel="next",<https://gitea.example.com/last>; rel="last"',
}

async function gitea(...replies: readonly Reply[]) {
  const server = await forgeServer(...replies)
  const { waits, options } = impatient()
  const forge = forgeOf(`${server.url}/org/deploy.git`, { GITEA_SERVER_URL: server.url, GITEA_TOKEN: TOKEN }, options)!
  return { ...server, forge, requests: forge.requests!, waits }
}

describe('find', () => {
  test('find reads the open pull requests page by page', async () => {
    const other = pull({ number: 9, head: { ref: 'other', repo_id: 8 } })
    const fork = pull({ number: 8, head: { ref: branches.head, repo_id: 4 } })
    const elsewhere = pull({ number: 7, base: { ref: 'main', repo_id: 8 } })
    const { requests, received, calls } = await gitea(
      { headers: next, json: [other, fork] },
      { json: [elsewhere, pull()] },
    )
    expect(await requests.find(branches)).toMatchObject({ number: 3, ...text, isDraft: false })
    expect(calls()).toEqual([
      `GET ${root}/pulls?state=open&sort=recentupdate&page=1&limit=50`,
      `GET ${root}/pulls?state=open&sort=recentupdate&page=2&limit=50`,
    ])
    expect(received[0]!.headers.authorization).toBe(`token ${TOKEN}`)
  })

  test.each<readonly [string, object, string]>([
    ['an error in place of a list', { errors: null, message: 'ok' }, 'it must be an array'],
    ['one without a branch', [pull({ base: null })], '`[0].base` must be an object'],
    ['one whose branch has no repository', [pull({ head: { ref: 'a' } })], '`[0].head.repo_id` is missing'],
  ])('find refuses an answer with %s', async (_, json, why) => {
    const { requests, url } = await gitea({ json })
    await expect(requests.find(branches)).rejects.toThrow(
      `\`${new URL(url).host}\` does not answer as the API of Gitea does: ${why}`,
    )
  })

  test('find stops at an empty page', async () => {
    const { requests, received } = await gitea({ headers: next, json: [] })
    expect(await requests.find(branches)).toBeUndefined()
    expect(received).toHaveLength(1)
  })
})

describe('open', () => {
  test('open creates a draft with labels by number, of repository or organization, and reviewers', async () => {
    const { requests, received, calls } = await gitea(
      {
        json: [
          { id: 1, name: 'bug' },
          { id: 2, name: 'deploy' },
        ],
      },
      { json: [{ id: 2, name: 'deploy' }] },
      { json: [{ id: 31, name: 'staging' }] },
      { json: [] },
      { status: 404, json: { message: 'GetOrgByName' } },
      { status: 201, json: pull({ title: `WIP: ${text.title}`, draft: true }) },
      { status: 201, json: [] },
    )
    const labels = ['deploy', 'staging', 'nobody']
    const opened = await requests.open({
      ...branches,
      ...text,
      labels,
      reviewers: ['ann', 'org/platform'],
      draft: true,
    })
    expect(opened).toMatchObject({
      request: { title: text.title, isDraft: true },
      isNew: true,
      notes: ['the label `nobody` is not known'],
    })
    expect(calls()).toEqual([
      `GET ${root}/labels?page=1&limit=50`,
      `GET ${root}/labels?page=1&limit=50`,
      'GET /api/v1/orgs/org/labels?page=1&limit=50',
      `GET ${root}/labels?page=1&limit=50`,
      'GET /api/v1/orgs/org/labels?page=1&limit=50',
      `POST ${root}/pulls`,
      `POST ${root}/pulls/3/requested_reviewers`,
    ])
    expect(received[5]!.body).toEqual({ ...branches, title: `WIP: ${text.title}`, body: text.body, labels: [2, 31] })
    expect(received[6]!.body).toEqual({ reviewers: ['ann'], team_reviewers: ['platform'] })
  })

  test('open finds labels on later pages, of which Gitea tells only the total number', async () => {
    const headers = { 'x-total-count': '60' }
    const page = (first: number, count: number) => ({
      headers,
      json: Array.from({ length: count }, (_, index) => ({ id: first + index, name: `l${first + index}` })),
    })
    const { requests, received, calls } = await gitea(
      page(1, 50),
      page(51, 10),
      page(1, 50),
      page(51, 10),
      page(101, 50),
      { headers, json: [] },
      { status: 201, json: pull() },
    )
    const opened = await requests.open({ ...branches, ...text, labels: ['l55', 'nobody'] })
    expect(opened.notes).toEqual(['the label `nobody` is not known'])
    expect(received.at(-1)!.body).toMatchObject({ labels: [55] })
    expect(calls()).toEqual([
      `GET ${root}/labels?page=1&limit=50`,
      `GET ${root}/labels?page=2&limit=50`,
      `GET ${root}/labels?page=1&limit=50`,
      `GET ${root}/labels?page=2&limit=50`,
      'GET /api/v1/orgs/org/labels?page=1&limit=50',
      'GET /api/v1/orgs/org/labels?page=2&limit=50',
      `POST ${root}/pulls`,
    ])
  })

  test('open reports a label that is not known once, also after a lost response', async () => {
    const unknown = [{ json: [] }, { status: 404, json: {} }]
    const lost = { status: 502, text: '' }
    const { requests } = await gitea(...unknown, lost, { json: [] }, ...unknown, { status: 201, json: pull() })
    const opened = await requests.open({ ...branches, ...text, labels: ['nobody'] })
    expect(opened.notes).toEqual(['the label `nobody` is not known'])
  })

  test('open updates the text of a pull request that another run has opened', async () => {
    const exists = {
      status: 409,
      json: {
        message: 'pull request already exists for these targets [id: 5, issue_id: 3, head_repo_id: 8, base_repo_id: 8]',
        url: 'https://gitea.example.com/api/swagger',
      },
    }
    const { requests, received } = await gitea(
      exists,
      { json: [pull({ title: 'older' })] },
      { status: 201, json: pull() },
    )
    expect(await requests.open({ ...branches, ...text })).toMatchObject({ request: text, isNew: false })
    expect(received.map(({ method }) => method)).toEqual(['POST', 'GET', 'PATCH'])
  })
})

describe('update and close', () => {
  const request = { number: 3, url: 'u', ...text, isDraft: true }

  test('update keeps a draft a draft', async () => {
    const { requests, received } = await gitea({ status: 201, json: pull({ title: 'WIP: new' }) })
    await requests.update(request, { title: 'new', body: 'b' })
    expect(received).toMatchObject([
      { method: 'PATCH', path: `${root}/pulls/3`, body: { title: 'WIP: new', body: 'b' } },
    ])
  })

  test('close closes the pull request, then comments the reason', async () => {
    const { requests, received } = await gitea(
      { status: 201, json: pull({ state: 'closed' }) },
      { status: 201, json: { id: 1 } },
    )
    expect(await requests.close(request, 'why')).toEqual([])
    expect(received).toMatchObject([
      { method: 'PATCH', path: `${root}/pulls/3`, body: { state: 'closed' } },
      { method: 'POST', path: `${root}/issues/3/comments`, body: { body: 'why' } },
    ])
  })
})

describe('messages of refusals', () => {
  test.each<[string, Reply, RegExp]>([
    [
      'a bad token',
      { status: 401, json: { message: 'invalid username, password or token' } },
      /does not accept the token in `GITEA_TOKEN`: invalid/,
    ],
    [
      'a scope that is missing',
      { status: 403, json: { message: 'token does not have at least one of required scope(s): [write:repository]' } },
      /does not let the token of `GITEA_TOKEN` open a pull request: token does not have/,
    ],
    [
      'no branch',
      { status: 404, json: { message: 'The target could not be found.', errors: [], url: 'u' } },
      /has no repository `org\/deploy`/,
    ],
    [
      'errors',
      { status: 422, json: { message: '', errors: ['base branch does not exist'] } },
      /: base branch does not exist$/,
    ],
    ['an archive', { status: 423, json: { message: 'repository is archived' } }, /: repository is archived$/],
  ])('open explains the refusal: %s', async (_, answer, message) => {
    const { requests } = await gitea(answer)
    expect((await failureOf(requests.open({ ...branches, ...text }))).message).toMatch(message)
  })
})
