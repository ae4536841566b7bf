import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { forgeOf } from '../../../../adapters/forge/forge-of.ts'
import { failureOf, forgeServer, impatient, type Reply } from '../../../support/gitops/forge/forge-server.ts'

const TOKEN = 'glpat-0123456789'
const branches = { head: 'devctl/staging/shop', base: 'main' }
const text = { title: 'deploy(shop/staging): web 1.4.3', body: 'What changed.' }
const root = '/api/v4/projects/group/sub/deploy'

/** Returns a merge request of https://docs.gitlab.com/api/merge_requests/, without the fields that no code reads. */
const merge = (more: object = {}) => ({
  id: 84,
  iid: 14,
  project_id: 4,
  title: text.title,
  description: text.body,
  state: 'opened',
  source_branch: branches.head,
  target_branch: 'main',
  source_project_id: 4,
  target_project_id: 4,
  draft: false,
  web_url: 'https://gitlab.example.com/group/sub/deploy/-/merge_requests/14',
  ...more,
})

async function gitlab(...replies: readonly Reply[]) {
  const server = await forgeServer(...replies)
  const { waits, options } = impatient()
  const env = {
    CI_SERVER_URL: server.url,
    CI_API_V4_URL: `${server.url}/api/v4`,
    GITLAB_TOKEN: TOKEN,
    CI_JOB_TOKEN: 'job',
  }
  const forge = forgeOf(`${server.url}/group/sub/deploy.git`, env, options)!
  return { ...server, forge, requests: forge.requests!, waits }
}

describe('find', () => {
  test('find asks for the open merge request of the two branches, the project by its escaped path', async () => {
    const { requests, received } = await gitlab({ json: [merge()] })
    expect(await requests.find(branches)).toEqual({
      number: 14,
      url: 'https://gitlab.example.com/group/sub/deploy/-/merge_requests/14',
      ...text,
      isDraft: false,
    })
    expect(received).toMatchObject([
      {
        method: 'GET',
        path: `${root}/merge_requests?state=opened&source_branch=devctl/staging/shop&target_branch=main&per_page=100`,
        headers: { 'private-token': TOKEN, accept: 'application/json' },
      },
    ])
    expect(received[0]!.headers.authorization).toBeUndefined()
  })

  test.each<readonly [string, object, string]>([
    ['an object in place of a list', { message: 'ok' }, 'it must be an array'],
    ['one without its page', [{ ...merge(), web_url: undefined }], '`[0].web_url` is missing'],
    ['one whose number is text', [merge(), merge({ iid: '15' })], '`[1].iid` must be an integer'],
    ['one without its project', [merge({ target_project_id: null })], '`[0].target_project_id` must be an integer'],
  ])('find refuses an answer with %s', async (_, json, why) => {
    const { requests, url } = await gitlab({ json })
    const { host } = new URL(url)
    const error = await failureOf(requests.find(branches))
    expect(error.message).toBe(`\`${host}\` does not answer as the API of GitLab does: ${why}`)
  })

  test('find ignores the merge requests of forks', async () => {
    const { requests } = await gitlab({ json: [merge({ source_project_id: 9 }), merge({ source_project_id: null })] })
    expect(await requests.find(branches)).toBeUndefined()
  })

  test.each([
    [{ title: 'Draft: deploy', draft: true }, 'deploy', true],
    [{ title: 'Draft: deploy', draft: undefined }, 'deploy', true],
    [{ title: 'Drafts of deploy' }, 'Drafts of deploy', false],
  ])('find recognizes drafts: %j', async (fields, title, isDraft) => {
    const { requests } = await gitlab({ json: [merge(fields)] })
    expect(await requests.find(branches)).toMatchObject({ title, isDraft })
  })
})

describe('open', () => {
  test('open creates a draft with labels, and with reviewers by number', async () => {
    const { requests, received } = await gitlab(
      { json: [{ id: 21, username: 'ann' }] },
      { json: [] },
      { status: 201, json: merge({ title: `Draft: ${text.title}`, draft: true }) },
    )
    const wanted = { ...branches, ...text, labels: ['deploy', 'staging'], reviewers: ['ann', 'bob'], draft: true }
    expect(await requests.open(wanted)).toEqual({
      request: expect.objectContaining({ number: 14, title: text.title, isDraft: true }),
      isNew: true,
      notes: ['the reviewer `bob` is not known'],
    })
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/v4/users?username=ann',
      'GET /api/v4/users?username=bob',
      `POST ${root}/merge_requests`,
    ])
    expect(received[2]!.body).toEqual({
      source_branch: 'devctl/staging/shop',
      target_branch: 'main',
      title: `Draft: ${text.title}`,
      description: text.body,
      labels: 'deploy,staging',
      reviewer_ids: [21],
    })
  })

  test('open updates the text of a merge request that another run has opened', async () => {
    const exists = {
      status: 409,
      json: { message: ['Another open merge request already exists for this source branch: !14'] },
    }
    const { requests, received } = await gitlab(exists, { json: [merge({ title: 'older' })] }, { json: merge() })
    expect(await requests.open({ ...branches, ...text })).toMatchObject({ request: text, isNew: false })
    expect(received.map(({ method }) => method)).toEqual(['POST', 'GET', 'PUT'])
  })

  test('after a lost answer, open searches for the merge request before it creates another', async () => {
    const { requests, received } = await gitlab('cut', { json: [] }, { status: 201, json: merge() })
    expect(await requests.open({ ...branches, ...text })).toMatchObject({ isNew: true })
    expect(received.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST'])
  })
})

describe('update and close', () => {
  const request = { number: 14, url: 'u', ...text, isDraft: true }

  test('update keeps a draft a draft', async () => {
    const { requests, received } = await gitlab({ json: merge({ title: 'Draft: new', draft: true }) })
    expect(await requests.update(request, { title: 'new', body: 'b' })).toMatchObject({ title: 'new', isDraft: true })
    expect(received).toMatchObject([
      { method: 'PUT', path: `${root}/merge_requests/14`, body: { title: 'Draft: new', description: 'b' } },
    ])
  })

  test('update writes nothing if the text is the same', async () => {
    const { requests, received } = await gitlab()
    await requests.update(request, text)
    expect(received).toEqual([])
  })

  test('close closes the merge request, then comments the reason', async () => {
    const { requests, received } = await gitlab(
      { json: merge({ state: 'closed' }) },
      { status: 201, json: { id: 301 } },
    )
    expect(await requests.close(request, 'why')).toEqual([])
    expect(received).toMatchObject([
      { method: 'PUT', path: `${root}/merge_requests/14`, body: { state_event: 'close' } },
      { method: 'POST', path: `${root}/merge_requests/14/notes`, body: { body: 'why' } },
    ])
  })
})

describe('messages of refusals', () => {
  test.each<[string, Reply, RegExp, RegExp]>([
    [
      'a bad token',
      { status: 401, json: { message: '401 Unauthorized' } },
      /^GitLab does not accept the token in `GITLAB_TOKEN`: 401/,
      /expired/,
    ],
    [
      'a scope that is missing',
      {
        status: 403,
        json: {
          error: 'insufficient_scope',
          error_description: 'The request requires higher privileges than provided by the access token.',
          scope: 'api',
        },
      },
      /does not let the token of `GITLAB_TOKEN` open a merge request: The request requires higher privileges/,
      /scope `api`, and the role Developer/,
    ],
    [
      'no project',
      { status: 404, json: { message: '404 Project Not Found' } },
      /no repository `group\/sub\/deploy`/,
      /is right/,
    ],
    [
      'an object of lists',
      { status: 400, json: { message: { title: ["can't be blank"], base: ['is invalid'] } } },
      /^GitLab refuses to open a merge request: title can't be blank; is invalid$/,
      /^$/,
    ],
    [
      'a list',
      { status: 422, json: { message: ['Target branch does not exist'] } },
      /: Target branch does not exist$/,
      /^$/,
    ],
    [
      'an error of a field',
      { status: 400, json: { error: 'source_branch is missing' } },
      /: source_branch is missing$/,
      /^$/,
    ],
  ])('open explains the refusal: %s', async (_, answer, message, hint) => {
    const { requests } = await gitlab(answer)
    const error = await failureOf(requests.open({ ...branches, ...text }))
    expect(error.message).toMatch(message)
    expect(error.hint ?? '').toMatch(hint)
    expect(inspect(error, { depth: 10 })).not.toContain(TOKEN)
  })
})
