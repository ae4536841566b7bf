import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ForgeVariables } from '../../../../adapters/forge/forge-module.ts'
import { forgeOf } from '../../../../adapters/forge/forge-of.ts'
import { failureOf, forgeServer, impatient, type Reply } from '../../../support/gitops/forge/forge-server.ts'

const TOKEN = 'ghp_0123456789'
const branches = { head: 'devctl/staging/shop', base: 'main' }
const text = { title: 'deploy(shop/staging): web 1.4.3', body: 'What changed.' }

/** Returns a pull request of https://docs.github.com/rest/pulls/pulls, without the fields that no code reads. */
const pull = (more: object = {}) => ({
  id: 1,
  number: 1347,
  state: 'open',
  html_url: 'https://github.com/octo-org/deploy/pull/1347',
  title: text.title,
  body: text.body,
  draft: false,
  head: { label: 'octo-org:devctl/staging/shop', ref: branches.head, sha: '6dcb09b', repo: { id: 1296269 } },
  base: { label: 'octo-org:main', ref: 'main', sha: '9049f12', repo: { id: 1296269 } },
  ...more,
})

async function github(...replies: readonly Reply[]) {
  return githubWith({}, ...replies)
}

async function githubWith(more: ForgeVariables, ...replies: readonly Reply[]) {
  const server = await forgeServer(...replies)
  const { waits, options } = impatient()
  const env = { GITHUB_SERVER_URL: server.url, GITHUB_API_URL: `${server.url}/api/v3`, GITHUB_TOKEN: TOKEN, ...more }
  const forge = forgeOf(`${server.url}/octo-org/deploy.git`, env, options)!
  return { ...server, forge, requests: forge.requests!, waits }
}

describe('find', () => {
  test('find asks for the open pull request between the two branches', async () => {
    const { requests, received } = await github({ json: [pull()] })
    expect(await requests.find(branches)).toEqual({
      number: 1347,
      url: 'https://github.com/octo-org/deploy/pull/1347',
      ...text,
      isDraft: false,
    })
    expect(received).toMatchObject([
      {
        method: 'GET',
        path: '/api/v3/repos/octo-org/deploy/pulls?state=open&head=octo-org:devctl/staging/shop&base=main&per_page=100',
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Bearer ${TOKEN}`,
          'x-github-api-version': '2022-11-28',
          'user-agent': 'devctl',
        },
        body: undefined,
      },
    ])
  })

  test('find ignores pull requests of other branches and forks', async () => {
    const other = pull({ head: { ref: 'other', repo: { id: 1296269 } } })
    const fork = pull({ head: { ref: branches.head, repo: { id: 7 } } })
    const gone = pull({ head: { ref: branches.head, repo: null } })
    const { requests } = await github({ json: [other, fork, gone] })
    expect(await requests.find(branches)).toBeUndefined()
  })
})

describe('open', () => {
  test('open creates the pull request, then sets labels and requests reviews', async () => {
    const { requests, received } = await github(
      { status: 201, json: pull() },
      { json: [] },
      { status: 201, json: pull() },
    )
    const request = { ...branches, ...text, labels: ['deploy'], reviewers: ['ann', 'octo-org/platform'] }
    expect(await requests.open(request)).toMatchObject({ request: { number: 1347 }, isNew: true, notes: [] })
    expect(received.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/api/v3/repos/octo-org/deploy/pulls', { ...branches, ...text }],
      ['POST', '/api/v3/repos/octo-org/deploy/issues/1347/labels', { labels: ['deploy'] }],
      [
        'POST',
        '/api/v3/repos/octo-org/deploy/pulls/1347/requested_reviewers',
        { reviewers: ['ann'], team_reviewers: ['platform'] },
      ],
    ])
    expect(received[0]!.headers['content-type']).toBe('application/json')
  })

  test('open only reports a reviewer that the forge refuses', async () => {
    const refused = {
      status: 422,
      json: {
        message: 'Reviews may only be requested from collaborators. One or more of the users is not a collaborator.',
      },
    }
    const { requests } = await github({ status: 201, json: pull() }, refused)
    const { notes } = await requests.open({ ...branches, ...text, reviewers: ['bob'] })
    expect(notes).toEqual([expect.stringMatching(/^the reviewers could not be asked: Reviews may only/)])
  })

  test('open creates an ordinary pull request if the repository has no drafts', async () => {
    const refused = { status: 422, json: { message: 'Draft pull requests are not supported in this repository.' } }
    const { requests, received } = await github(refused, { status: 201, json: pull() })
    const { notes } = await requests.open({ ...branches, ...text, draft: true })
    expect(notes).toEqual(['the repository does not support drafts: the pull request is an ordinary one'])
    expect(received.map(({ body }) => (body as { draft?: boolean }).draft)).toEqual([true, undefined])
  })

  test('open updates the text of a pull request that another run has opened', async () => {
    const exists = {
      status: 422,
      json: {
        message: 'Validation Failed',
        errors: [
          {
            resource: 'PullRequest',
            code: 'custom',
            message: 'A pull request already exists for octo-org:devctl/staging/shop.',
          },
        ],
      },
    }
    const { requests, received } = await github(exists, { json: [pull({ title: 'older' })] }, { json: pull() })
    expect(await requests.open({ ...branches, ...text })).toMatchObject({ request: text, isNew: false })
    expect(received.map(({ method }) => method)).toEqual(['POST', 'GET', 'PATCH'])
    expect(received[2]!.body).toEqual(text)
  })

  test.each<[string, Reply]>([
    ['a connection that is cut', 'cut'],
    ['a gateway without an answer', { status: 502, text: '<html>Bad Gateway</html>' }],
  ])('after %s, open searches for the pull request before it creates another', async (_, fault) => {
    const made = await github(fault, { json: [pull()] }, { json: [] })
    const opened = await made.requests.open({ ...branches, ...text, labels: ['deploy'] })
    expect(opened).toMatchObject({ request: { number: 1347 }, isNew: true })
    expect(made.calls().map(call => call.replace(/\?.*/, ''))).toEqual([
      'POST /api/v3/repos/octo-org/deploy/pulls',
      'GET /api/v3/repos/octo-org/deploy/pulls',
      'POST /api/v3/repos/octo-org/deploy/issues/1347/labels',
    ])

    const lost = await github(fault, { json: [] }, { status: 201, json: pull() })
    expect(await lost.requests.open({ ...branches, ...text })).toMatchObject({ request: { number: 1347 }, isNew: true })
    expect(lost.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST'])
  })

  test('open truncates a body that is too long', async () => {
    const { requests, received } = await github({ status: 201, json: pull() })
    await requests.open({ ...branches, title: 'x', body: 'line\n'.repeat(20_000) })
    const { body } = received[0]!.body as { body: string }
    expect(body.length).toBeLessThanOrEqual(65_536)
    expect(body).toContain('The rest does not fit here')
  })
})

describe('update and close', () => {
  const request = { number: 1347, url: 'u', ...text, isDraft: false }

  test('update writes nothing if the text is the same', async () => {
    const { requests, received } = await github()
    expect(await requests.update({ ...request, body: 'What changed.\r\n' }, text)).toMatchObject({ number: 1347 })
    expect(received).toEqual([])
  })

  test('update changes title and body', async () => {
    const { requests, received } = await github({ json: pull({ title: 'new' }) })
    expect(await requests.update(request, { title: 'new', body: text.body })).toMatchObject({ title: 'new' })
    expect(received).toMatchObject([
      { method: 'PATCH', path: '/api/v3/repos/octo-org/deploy/pulls/1347', body: { title: 'new', body: text.body } },
    ])
  })

  test('close closes the pull request, then comments the reason', async () => {
    const { requests, received } = await github({ json: pull({ state: 'closed' }) }, { status: 201, json: { id: 1 } })
    expect(await requests.close(request, 'Nothing is left to change.')).toEqual([])
    expect(received).toMatchObject([
      { method: 'PATCH', path: '/api/v3/repos/octo-org/deploy/pulls/1347', body: { state: 'closed' } },
      {
        method: 'POST',
        path: '/api/v3/repos/octo-org/deploy/issues/1347/comments',
        body: { body: 'Nothing is left to change.' },
      },
    ])
  })

  test('close reports a comment that cannot be written, and does not write it again', async () => {
    const { requests, received } = await github({ json: pull() }, 'cut')
    expect(await requests.close(request, 'x')).toEqual([expect.stringMatching(/^the comment could not be written/)])
    expect(received).toHaveLength(2)
  })
})

describe('messages of refusals', () => {
  test.each<[string, Reply, RegExp, RegExp]>([
    [
      'a bad token',
      { status: 401, json: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest' } },
      /^GitHub does not accept the token in `GITHUB_TOKEN`: Bad credentials$/,
      /expired/,
    ],
    [
      'single sign-on',
      {
        status: 403,
        headers: {
          'x-github-sso': 'required; url=https://github.com/orgs/octo-org/sso?authorization_request=AZSCKtL4U8yX',
        },
        json: { message: 'Resource protected by organization SAML enforcement.' },
      },
      /not authorized for the single sign-on/,
      /authorize it/,
    ],
    [
      'no permission',
      { status: 403, json: { message: 'Resource not accessible by integration' } },
      /^GitHub does not let the token of `GITHUB_TOKEN` open a pull request: Resource not accessible by integration$/,
      /Pull requests: write/,
    ],
    [
      'a workflow that may not',
      { status: 403, json: { message: 'GitHub Actions is not permitted to create or approve pull requests.' } },
      /not permitted to create or approve pull requests$/,
      /Allow GitHub Actions to create/,
    ],
    [
      'no repository',
      { status: 404, json: { message: 'Not Found' } },
      /^GitHub has no repository `octo-org\/deploy`, or the token of `GITHUB_TOKEN` has no access to it$/,
      /octo-org\/deploy` is right/,
    ],
    [
      'nothing to merge',
      {
        status: 422,
        json: {
          message: 'Validation Failed',
          errors: [
            { resource: 'PullRequest', code: 'custom', message: 'No commits between main and devctl/staging/shop' },
          ],
        },
      },
      /^GitHub refuses to open a pull request: No commits between main and devctl\/staging\/shop$/,
      /^$/,
    ],
    [
      'a field',
      {
        status: 422,
        json: { message: 'Validation Failed', errors: [{ resource: 'PullRequest', field: 'base', code: 'invalid' }] },
      },
      /: base invalid$/,
      /^$/,
    ],
    ['no words', { status: 418, text: '' }, /^GitHub refuses to open a pull request: status 418$/, /^$/],
    ['an echo of the token', { status: 400, json: { message: `bad ${TOKEN}\u001b[31m` } }, /: bad \*\*\* \[31m$/, /^$/],
    [
      'a web page',
      { status: 200, text: '<html>Sign in</html>' },
      /^`.*` does not answer as the API of GitHub does: it is a web page$/,
      /--forge/,
    ],
    [
      'a request of another API',
      { status: 201, json: [{ id: 7, url: 'https://ghp_x@git.example.com/7', title: 'Shop' }] },
      /^`.*` does not answer as the API of GitHub does: `\[0\].number` is missing$/,
      /--forge/,
    ],
  ])('open explains the answer of GitHub without its secrets: %s', async (_, answer, message, hint) => {
    const { requests } = await github(answer, answer, answer, answer, answer, answer, answer, answer)
    const error = await failureOf(requests.open({ ...branches, ...text }))
    expect(error.message).toMatch(message)
    expect(error.hint ?? '').toMatch(hint)
    expect(inspect(error, { depth: 10 })).not.toMatch(/ghp_|AZSCKtL4U8yX/)
  })

  test('a hint says that the token of a workflow is for its own repository', async () => {
    const env = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'octo-org/shop' }
    const missing = { status: 404, json: { message: 'Not Found' } }
    const error = await failureOf((await githubWith(env, missing)).requests.find(branches))
    expect(error.hint).toContain('the token of a workflow is for its own repository, `octo-org/shop`: make one')
    const own = await failureOf(
      (await githubWith({ ...env, GITHUB_REPOSITORY: 'Octo-Org/deploy' }, missing)).requests.find(branches),
    )
    expect(own.hint).toContain('Pull requests: write')
  })

  test('a printed forge does not show its token', async () => {
    const { forge } = await github()
    expect(inspect(forge, { depth: 10, showHidden: true }) + JSON.stringify(forge)).not.toContain(TOKEN)
  })
})
