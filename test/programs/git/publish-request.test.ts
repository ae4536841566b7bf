import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { git } from '../../support/git/git.ts'
import { COMPOSE, manifestFor, publishing } from '../../support/git/publishing.ts'
import { commitDirectly } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { FORGE_TOKEN, type Forge, forge } from './forge.ts'
import { everythingIn, leakIn } from './leaks.ts'

const FOLDER = 'environments/staging/shop'
const BRANCH = 'devctl/staging/shop'
const NEWER = COMPOSE.replace('nginx:1.27', 'nginx:1.28')

/**
 * Creates an application whose environment uses pull requests, on a forge. Git reads and writes its files unless
 * `isHttp`.
 */
async function requesting({
  more = '',
  hasToken = true,
  isHttp = false,
}: {
  more?: string
  hasToken?: boolean
  isHttp?: boolean
} = {}) {
  const server = await forge()
  const given = { ...(hasToken ? server.withToken : server.withoutToken), ...(isHttp ? {} : server.asFiles) }
  const made = await publishing({
    server: { ...server, env: given },
    environment: more === '' ? '    pullRequest: true\n' : more,
  })
  const heads = async () =>
    (await git(server.repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')).split('\n')
  const commitsOn = async (branch: string) =>
    Number(await git(server.repository, 'rev-list', '--count', `main..${branch}`))
  const headOf = (branch: string) => git(server.repository, 'rev-parse', branch)
  return { ...made, server: server as Forge, heads, commitsOn, headOf }
}

describe('a pull request', () => {
  test('publish opens a pull request with labels and reviewers, and it stays if its base moves', async () => {
    const { publish, server, commitsOn, headOf, tree, log } = await requesting({
      more: '    pullRequest: {labels: [deploy, nobody-has-it], reviewers: [ann]}\n',
    })
    const { status, stdout, stderr } = await publish()
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(
        /^deploy\(shop\/staging\): \d+ objects added\nhttp:\/\/127\S+\/org\/deploy\/pulls\/1\n$/,
      ),
    })
    expect(stderr).toContain('warning: the label `nobody-has-it` is not known')
    expect(server.pulls).toMatchObject([
      {
        head: BRANCH,
        base: 'main',
        labels: ['7'],
        reviewers: ['ann'],
        state: 'open',
        title: expect.stringMatching(/^deploy\(shop\/staging\)/),
      },
    ])
    expect(server.pulls[0]!.body).toContain('| `+` | `deployment/web` | added |')
    expect(await commitsOn(BRANCH)).toBe(1)
    expect(Object.keys(await tree(BRANCH))).toContain(`${FOLDER}/web/deployment-web.yaml`)
    expect(await log('main')).toHaveLength(1)

    // A push of another application to the base leaves the pull request unchanged.
    const head = await headOf(BRANCH)
    await commitDirectly(server.repository, { 'environments/staging/blog/x.yaml': 'theirs\n' })
    expect((await publish()).stdout).toMatch(/^unchanged: `devctl/)
    expect(await headOf(BRANCH)).toBe(head)
  })

  test('publish --pull-request opens a pull request with the command that checks its merge', async () => {
    const server = await forge()
    const { publish } = await publishing({ server: { ...server, env: { ...server.env, ...server.asFiles } } })
    const words = ['--path', 'a/shop', '--domain', 'a.example.com', '--image', 'web=nginx:1.28']
    expect((await publish(...words, '--pull-request', '--output', 'json')).status).toBe(0)
    expect(server.pulls).toHaveLength(1)
    expect(server.pulls[0]!.body).toContain('After the merge')
    expect(server.pulls[0]!.body).toContain(
      'devctl publish --environment staging --domain a.example.com --path a/shop --image web=nginx:1.28 --verify\n',
    )
  })

  test('a pull request is unchanged without changes, and a newer source updates its one commit', async () => {
    const { publish, server, change, commitsOn, headOf, tree } = await requesting({ isHttp: true })
    await publish()
    const [head, pushes] = [await headOf(BRANCH), server.pushes()]
    const { status, stdout } = await publish()
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(
        /^unchanged: `devctl\/staging\/shop` already holds what .* renders to\nhttp\S+\/pulls\/1\n$/,
      ),
    })
    expect(await headOf(BRANCH)).toBe(head)
    expect(server.pushes()).toBe(pushes)
    expect(server.pulls).toMatchObject([{ edits: 0, state: 'open' }])

    await change({ 'compose.yaml': NEWER })
    expect((await publish()).stdout).toMatch(/\/pulls\/1\n$/)
    expect(server.pulls).toMatchObject([{ edits: 1, state: 'open' }])
    expect(server.pulls[0]!.body).toContain('nginx:1.28')
    expect(await commitsOn(BRANCH)).toBe(1)
    expect((await tree(BRANCH))[`${FOLDER}/web/deployment-web.yaml`]).toContain('nginx:1.28')
  })

  test('a pull request is updated after a change that removes a file', async () => {
    const { publish, server, change, tree } = await requesting()
    const withConfig = (content: string) =>
      COMPOSE.replace('depends_on', 'configs: [c]\n    depends_on').concat(`configs:\n  c:\n    content: ${content}\n`)
    await change({ 'compose.yaml': withConfig('one') })
    await publish()
    await server.merge(server.pulls[0]!)
    for (const content of ['two', 'three']) {
      await change({ 'compose.yaml': withConfig(content) })
      expect(await publish()).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') })
    }
    const maps = Object.entries(await tree(BRANCH)).filter(([path]) => path.includes('configmap'))
    expect(maps).toEqual([[expect.anything(), expect.stringContaining('three')]])
    expect((await publish()).stdout).toMatch(/^unchanged: `devctl/)
  })

  longTest('a pull request with a newer source is replaced only with --rollback', async () => {
    const { publish, server, change, source, tree } = await requesting()
    const older = await change({ 'compose.yaml': COMPOSE })
    const newer = await change({ 'compose.yaml': NEWER })
    await publish()
    await git(source, 'checkout', '--quiet', older)
    const { status, stdout } = await publish()
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `skipped: \`${BRANCH}\` holds ${newer.slice(0, 7)}, which is newer than ${older.slice(0, 7)} (to publish the older one, use \`--rollback\`)\n`,
    })
    expect((await tree(BRANCH))[`${FOLDER}/web/deployment-web.yaml`]).toContain('nginx:1.28')
    expect((await publish('--rollback')).status).toBe(0)
    expect((await tree(BRANCH))[`${FOLDER}/web/deployment-web.yaml`]).toContain('nginx:1.27')
    expect(server.pulls).toHaveLength(1)
  })

  longTest('publish opens another pull request after the first was merged', async () => {
    const { publish, server, change, commitsOn } = await requesting()
    await publish()
    await server.merge(server.pulls[0]!)
    await change({ 'compose.yaml': NEWER })
    expect((await publish()).stdout).toBe(
      `deploy(shop/staging): web 1.27 → 1.28\n${server.origin}/org/deploy/pulls/2\n`,
    )
    expect(server.pulls).toMatchObject([
      { state: 'closed' },
      { state: 'open', title: 'deploy(shop/staging): web 1.27 → 1.28' },
    ])
    expect(await commitsOn(BRANCH)).toBe(1)
  })

  longTest('publish deletes the branch of a merged pull request, or warns if it cannot', async () => {
    const { publish, server, heads } = await requesting()
    await publish()
    await server.merge(server.pulls[0]!)
    await git(server.repository, 'config', 'receive.denyDeletes', 'true')
    const kept = await publish()
    expect(kept.status).toBe(0)
    expect(kept.stderr).toContain(`warning: the server does not allow deleting the branch \`${BRANCH}\``)
    expect(await heads()).toEqual([BRANCH, 'main'])
    await git(server.repository, 'config', 'receive.denyDeletes', 'false')
    const { status, stdout, stderr } = await publish()
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^unchanged: environments\/staging\/shop/),
    })
    expect(stderr).toContain(`removed the branch \`${BRANCH}\`: \`main\` already contains its changes`)
    expect(stderr).not.toContain('warning')
    expect(await heads()).toEqual(['main'])
    expect(server.pulls).toMatchObject([{ comments: [] }])
  })

  test('publish refuses a pull request to a branch without a commit', async () => {
    const { publish } = await publishing()
    expect(await publish('--pull-request')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('`main` has no commit yet'),
    })
  })
})

describe('the base of a pull request', () => {
  longTest('publish rewrites a pull request after its base has changed the same folder', async () => {
    const { publish, server, headOf, change, commitsOn, source, tree } = await requesting()
    await publish()
    await server.merge(server.pulls[0]!)
    const newer = await change({ 'compose.yaml': NEWER })
    await publish()
    const head = await headOf(BRANCH)
    // A third version goes past the request: merging it would be a conflict.
    await git(source, 'checkout', '--quiet', 'HEAD^')
    const manifest = manifestFor(server.address)
    await change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:1.29'), 'devctl.yml': manifest })
    expect((await publish()).stdout).toContain('deploy(shop/staging): web 1.27 → 1.29')
    await git(source, 'checkout', '--quiet', newer)
    expect((await publish()).stdout).toContain('deploy(shop/staging): web 1.29 → 1.28')
    expect(await headOf(BRANCH)).not.toBe(head)
    expect(await commitsOn(BRANCH)).toBe(1)
    expect(await git(server.repository, 'rev-parse', `${BRANCH}^`)).toBe(await headOf('main'))
    expect((await tree(BRANCH))[`${FOLDER}/web/deployment-web.yaml`]).toContain('nginx:1.28')
    expect(server.pulls).toHaveLength(2)
  })

  test.each(few([true, false]))('a base with all changes ends the pull request (token: %s)', async hasToken => {
    const { publish, server, change, heads, env, source } = await requesting({ hasToken })
    await commitDirectly(server.repository, { 'x.txt': 'x\n' })
    const given = { ...env, ...server.withToken }
    await run(['publish', '--environment', 'staging'], { cwd: source, env: given })
    await server.merge(server.pulls[0]!)
    await change({ 'compose.yaml': NEWER })
    await run(['publish', '--environment', 'staging'], { cwd: source, env: given })
    expect(server.pulls).toHaveLength(2)
    await change({ 'compose.yaml': COMPOSE })
    const { status, stdout, stderr } = await publish()
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^unchanged: /) })
    expect(stderr).toContain(`removed the branch \`${BRANCH}\``)
    expect(await heads()).toEqual(['main'])
    if (!hasToken) return
    expect(server.pulls[1]).toMatchObject({
      state: 'closed',
      comments: ['`main` already has the rendered manifests.'],
    })
    expect(stderr).toContain(`closed ${server.origin}/org/deploy/pulls/2`)
  })
})

describe('commits of another user on the branch', () => {
  test('publish refuses to replace a commit of another user', async () => {
    const { publish, server, change, headOf } = await requesting()
    await publish()
    const theirs = await commitDirectly(
      server.repository,
      { [`${FOLDER}/web/extra.yaml`]: 'x\n' },
      { branch: BRANCH, message: 'more memory' },
    )
    await change({ 'compose.yaml': NEWER })
    const { status, stderr } = await publish()
    expect(status).toBe(1)
    expect(stderr).toContain(`someone else has pushed to \`${BRANCH}\``)
    expect(stderr).toContain(`${theirs.slice(0, 7)} by Somebody Else: more memory`)
    expect(stderr).not.toContain('else@example.com')
    expect(stderr).toMatch(/= help: /)
    expect(await headOf(BRANCH)).toBe(theirs)
  })

  const paths = [
    ['a file with a strange name', `${FOLDER}/web/[ü] *.yaml`],
    ['a file elsewhere', 'elsewhere.txt'],
    ['a file of ours', `${FOLDER}/web/service-web.yaml`],
    ['a file beside ours', `${FOLDER}/web/extra.yaml`],
  ] as const
  test.each(few(paths, 0))('publish refuses to replace a commit that another user has amended: %s', async (_, path) => {
    const { publish, server, change, headOf } = await requesting()
    await publish()
    const clone = makeFolder()
    await git(clone, 'clone', '--quiet', '--branch', BRANCH, server.repository, 'work')
    const { write } = await import('../../support/cli/folder.ts')
    write(`${clone}/work`, { [path]: 'theirs\n' })
    await git(`${clone}/work`, 'add', '.')
    await git(`${clone}/work`, 'commit', '--quiet', '--amend', '--no-edit')
    await git(`${clone}/work`, 'push', '--quiet', '--force', 'origin', `HEAD:${BRANCH}`)
    const theirs = await headOf(BRANCH)
    await change({ 'compose.yaml': NEWER })
    const { status, stderr } = await publish()
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(path) })
    expect(await headOf(BRANCH)).toBe(theirs)
  })

  longTest('publish keeps a commit of another user after the merge', async () => {
    const { publish, server, headOf } = await requesting()
    await publish()
    await server.merge(server.pulls[0]!)
    const theirs = await commitDirectly(server.repository, { 'x.txt': 'x\n' }, { branch: BRANCH })
    expect((await publish()).status).toBe(1)
    expect(await headOf(BRANCH)).toBe(theirs)
  })
})

describe('pull requests without a token', () => {
  test('publish without a token prints title, body and the page to open a pull request', async () => {
    const { publish, server, commitsOn } = await requesting({ hasToken: false })
    const { status, stdout } = await publish()
    expect(status).toBe(0)
    expect(stdout).toMatch(/^deploy\(shop\/staging\): \d+ objects added\n/)
    expect(stdout).toContain('### Objects')
    expect(stdout).toContain('GITEA_TOKEN')
    expect(stdout).toContain(`open it at ${server.origin}/org/deploy/compare/main...devctl/staging/shop?`)
    expect(await commitsOn(BRANCH)).toBe(1)
    expect(server.pulls).toEqual([])
  })

  longTest('publish --output json has the pull request', async () => {
    const { publish, server } = await requesting({ hasToken: false })
    const record = JSON.parse((await publish('--output', 'json')).stdout)
    expect(record).toMatchObject({
      outcome: 'pushed',
      branch: BRANCH,
      base: 'main',
      request: {
        title: expect.stringMatching(/^deploy/),
        body: expect.stringContaining('### Objects'),
        isOpen: false,
        page: expect.stringContaining(server.origin),
      },
    })
    expect(JSON.parse((await publish('--output', 'json')).stdout)).toMatchObject({
      outcome: 'requested',
      branch: BRANCH,
      request: { title: expect.stringMatching(/^deploy/), isOpen: false },
    })
  })

  longTest('publish pushes the branch to a server of an unknown kind', async () => {
    const server = await forge()
    const { publish } = await publishing({ server: { ...server, env: server.asFiles } })
    const { status, stdout } = await publish('--pull-request')
    expect(status).toBe(0)
    expect(stdout).toContain(`open a pull request from \`${BRANCH}\` to \`main\``)
    expect((await publish('--pull-request', '--forge', 'github')).stdout).toContain(
      '/compare/main...devctl/staging/shop?',
    )
  })
})

longTest('the publish after a refused token opens the pull request', async () => {
  const { publish, source, env, server, heads } = await requesting()
  const words = ['publish', '--environment', 'staging']
  const { status, stderr } = await run(words, { cwd: source, env: { ...env, GITEA_TOKEN: 'another-token-987' } })
  expect(status).toBe(1)
  expect(stderr).toContain(`\`${BRANCH}\` is pushed; the request can be opened at ${server.origin}`)
  expect(stderr).not.toContain('another-token-987')
  expect(await heads()).toEqual([BRANCH, 'main'])
  expect((await publish()).stdout).toMatch(/^unchanged: .*\n.*\/pulls\/1\n$/)
})

longTest('concurrent publishes open one pull request', async () => {
  const { source, env, server, commitsOn, tree } = await requesting()
  const all = await Promise.all(
    Array.from({ length: TAKES_ALL ? 3 : 2 }, () => run(['publish', '--environment', 'staging'], { cwd: source, env })),
  )
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 0))
  expect(server.pulls).toMatchObject([{ state: 'open' }])
  expect(await commitsOn(BRANCH)).toBe(1)
  expect(Object.keys(await tree(BRANCH))).toContain(`${FOLDER}/web/deployment-web.yaml`)
})

longTest('concurrent publishes of two commits end with the newer one', async () => {
  const { source, env, server, change, tree } = await requesting()
  const other = makeFolder()
  await git(other, 'clone', '--quiet', source, 'older')
  await change({ 'compose.yaml': NEWER })
  await git(`${other}/older`, 'fetch', '--quiet')
  const words = ['publish', '--environment', 'staging']
  const both = await Promise.all([run(words, { cwd: source, env }), run(words, { cwd: `${other}/older`, env })])
  expect(both.map(({ status }) => status)).toEqual([0, 0])
  expect((await tree(BRANCH))[`${FOLDER}/web/deployment-web.yaml`]).toContain('nginx:1.28')
  expect(server.pulls).toHaveLength(1)
})

if (TAKES_ALL)
  describe('options that change nothing', () => {
    test('publish --dry-run shows the changes, and --verify checks the base branch', async () => {
      const { publish, server, heads } = await requesting()
      expect((await publish('--dry-run')).stdout).toContain('+ deployment/web')
      expect(await heads()).toEqual(['main'])
      await publish()
      expect((await publish('--verify')).status).toBe(1)
      await server.merge(server.pulls[0]!)
      expect((await publish('--dry-run')).stdout).toMatch(/^unchanged/)
      expect((await publish('--verify')).status).toBe(0)
      expect(await heads()).toEqual([BRANCH, 'main'])
      expect(server.pushes()).toBe(1)
    })
  })

test('a pull request contains no secret and mentions no user', async () => {
  const password = 'hunter2-is-very-long'
  const { publish, server, change, tree } = await requesting({
    more: '    pullRequest: true\n    secrets:\n      public: [services.web.environment.DB_PASSWORD]\n',
  })
  const compose = (text: string) => COMPOSE.replace('    ports:', `    environment: {DB_PASSWORD: ${text}}\n    ports:`)
  await change({ 'compose.yaml': compose(password) }, 'thanks to @ann, see #12')
  await publish()
  await server.merge(server.pulls[0]!)
  await change({ 'compose.yaml': compose('another-long-one') })
  const { stdout, stderr } = await publish()
  const [, second] = server.pulls
  expect(second!.body).not.toMatch(/(^|[^\w`])@ann/)
  expect(server.pulls[0]!.body).not.toMatch(/@ann|#12/)
  const message = await git(server.repository, 'log', '-1', '--format=%B', BRANCH)
  for (const text of [stdout, stderr, message, second!.title, second!.body])
    expect(leakIn(text, [password, 'another-long-one', FORGE_TOKEN])).toBeUndefined()
  expect(leakIn(await everythingIn(server.repository), [FORGE_TOKEN])).toBeUndefined()
  expect(Object.values(await tree()).join('\n')).toContain(password)
})
