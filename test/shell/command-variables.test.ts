import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { secretValues } from '../../compiler/values/known-secrets.ts'
import { type CommandVariablesInput, commandVariables } from '../../shell/command-variables.ts'
import { readGitFacts, toHttps } from '../../shell/git-facts.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-git-facts-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const image = {
  registry: 'registry.example.com',
  repository: 'team/api',
  image: 'registry.example.com/team/api@sha256:1',
  tag: 'sha256:1',
  sha: 'devctl@sha256:1',
}
const input: CommandVariablesInput = {
  env: { PATH: '/bin', HOME: undefined },
  vars: {},
  name: 'shop',
  namespace: 'team',
  context: 'kind-dev',
  git: {},
  builds: new Map(),
  dependencies: new Map(),
}

describe('commandVariables', () => {
  test('names, and what is not known is not there', () => {
    expect(commandVariables(input).env).toEqual({
      PATH: '/bin',
      DEVCTL_NAME: 'shop',
      DEVCTL_NAMESPACE: 'team',
      DEVCTL_CONTEXT: 'kind-dev',
      DEVCTL_WITHIN_DEPLOY_COMMAND_CONTEXT: 'true',
      DEVCTL_DISABLE_SPINNER: 'true',
    })
  })

  test('the platform, the builds and the dependencies', () => {
    const { env } = commandVariables({
      ...input,
      domain: 'dev.example.com',
      user: 'ann',
      registry: 'registry.dev.example.com',
      builder: 'tcp://b:1234',
      builds: new Map([['my-api', image]]),
      dependencies: new Map([['auth-svc', { builds: new Map([['web', image]]), variables: { url: 'http://auth' } }]]),
    })
    expect(env).toMatchObject({
      DEVCTL_DOMAIN: 'dev.example.com',
      DEVCTL_USERNAME: 'ann',
      DEVCTL_REGISTRY_URL: 'registry.dev.example.com',
      BUILDKIT_HOST: 'tcp://b:1234',
      DEVCTL_BUILD_MY_API_REGISTRY: image.registry,
      DEVCTL_BUILD_MY_API_REPOSITORY: image.repository,
      DEVCTL_BUILD_MY_API_IMAGE: image.image,
      DEVCTL_BUILD_MY_API_TAG: image.tag,
      DEVCTL_BUILD_MY_API_SHA: image.sha,
      DEVCTL_DEPENDENCY_AUTH_SVC_BUILD_WEB_IMAGE: image.image,
      DEVCTL_DEPENDENCY_AUTH_SVC_VARIABLE_URL: 'http://auth',
    })
  })

  test('git is asked only for what is not set; `--var` wins over the process, ours over both', () => {
    const { env } = commandVariables({
      ...input,
      env: { DEVCTL_GIT_BRANCH: 'from-ci', DEVCTL_NAME: 'old', A: '1', GITHUB_REPOSITORY: '' },
      vars: { A: '2', BUILDKIT_HOST: 'mine:1' },
      builder: 'theirs:1',
      git: { branch: 'main', commit: 'c0ffee', repository: 'https://example.com/shop' },
    })
    expect(env).toMatchObject({
      DEVCTL_GIT_BRANCH: 'from-ci',
      DEVCTL_GIT_COMMIT: 'c0ffee',
      GITHUB_REPOSITORY: 'https://example.com/shop',
      DEVCTL_NAME: 'shop',
      A: '2',
      BUILDKIT_HOST: 'mine:1',
    })
  })

  test('no way to the labelling proxy through a proxy of the network', () => {
    const proxied = { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.example.com' }
    expect(commandVariables({ ...input, env: proxied }).env['NO_PROXY']).toBe('a.example.com,127.0.0.1')
    expect(commandVariables({ ...input, env: { NO_PROXY: 'a' } }).env['NO_PROXY']).toBe('a')
  })

  test('`--var` cannot say another namespace', () => {
    expect(() => commandVariables({ ...input, vars: { DEVCTL_NAMESPACE: 'x' } })).toThrow(UserError)
  })

  test('secrets are the values of `--var`, tokens, and variables whose names look so', () => {
    const { secrets } = commandVariables({
      ...input,
      vars: { A: 'value' },
      token: 'tok',
      env: { DB_PASSWORD: 'hunter22' },
    })
    expect(secrets).toEqual(['value', 'tok', 'hunter22'])
    const harmless = {
      USE_TOKEN: 'true',
      GOOGLE_APPLICATION_CREDENTIALS: '/key.json',
      MAX_TOKENS_SECRET: '12',
      PATH: '/bin',
    }
    expect(secretValues(harmless)).toEqual([])
    expect(
      secretValues({ API_KEY: 'abcdef', npm_token: 'ghijkl', PGPASSWORD: 'mnopqr', MYSQL_PWD: 'stuvwx' }),
    ).toHaveLength(4)
  })
})

test.each([
  ['git@github.com:team/shop.git', 'https://github.com/team/shop.git'],
  ['ssh://git@git.example.com:2222/team/shop.git', 'https://git.example.com/team/shop.git'],
  ['https://ann:secret@example.com:8443/shop.git', 'https://example.com:8443/shop.git'],
  ['git://example.com/shop', 'https://example.com/shop'],
  ['/srv/git/shop.git', undefined],
  ['../shop', undefined],
  ['file:///srv/shop.git', undefined],
  ['C:\\shop', undefined],
])('the address %s', (address, expected) => {
  expect(toHttps(address)).toBe(expected)
})

describe('readGitFacts', () => {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: work,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const git = (...words: string[]) => execFileSync('git', words, { cwd: work, env, encoding: 'utf8' }).trim()

  test('nothing outside a repository, and without git', async () => {
    expect(await readGitFacts(work, env)).toEqual({})
    expect(await readGitFacts(work, { PATH: '/nowhere' })).toEqual({})
  })

  test('branch, commit and address; another id for each state that is not committed', async () => {
    git('init', '--quiet', '--initial-branch', 'feature/x')
    expect(await readGitFacts(work, env)).toEqual({ branch: 'feature/x' })
    writeFileSync(join(work, 'file'), '1')
    git('add', '.')
    git('commit', '--quiet', '-m', 'first')
    git('remote', 'add', 'backup', '/srv/x')
    git('remote', 'add', 'origin', 'https://ann:secret@example.com/shop.git')
    const head = git('rev-parse', 'HEAD')
    expect(await readGitFacts(work, env)).toEqual({
      branch: 'feature/x',
      commit: head,
      repository: 'https://example.com/shop.git',
    })
    writeFileSync(join(work, 'new file'), '1')
    const first = await readGitFacts(work, env)
    expect(first.commit).toMatch(/^[0-9a-f]{40}$/)
    expect(first.commit).not.toBe(head)
    expect(await readGitFacts(work, env)).toEqual(first)
    appendFileSync(join(work, 'new file'), '2')
    expect((await readGitFacts(work, env)).commit).not.toBe(first.commit)
  })

  test('no branch on a detached head', async () => {
    git('checkout', '--quiet', '--detach')
    expect(await readGitFacts(work, env)).not.toHaveProperty('branch')
  })

  test('an aborted signal is thrown', async () => {
    await expect(readGitFacts(work, env, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
  })
})
