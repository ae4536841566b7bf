import { describe, expect, test } from 'vitest'
import { type CommandVariablesInput, commandVariables } from '../../../commands/command-variables.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { secretValues } from '../../../compiler/values/secrets/known-secrets.ts'

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
  test('commandVariables sets names, and omits what is not known', () => {
    expect(commandVariables(input).env).toEqual({
      PATH: '/bin',
      DEVCTL_NAME: 'shop',
      DEVCTL_NAMESPACE: 'team',
      DEVCTL_CONTEXT: 'kind-dev',
      DEVCTL_WITHIN_DEPLOY_COMMAND_CONTEXT: 'true',
      DEVCTL_DISABLE_SPINNER: 'true',
    })
  })

  test('commandVariables sets values of the platform, the builds and the dependencies', () => {
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

  test('git fills only unset variables, and `--var` wins over the process and the builder', () => {
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

  test('NO_PROXY keeps requests to the labelling proxy off a proxy of the network', () => {
    const proxied = { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.example.com' }
    expect(commandVariables({ ...input, env: proxied }).env['NO_PROXY']).toBe('a.example.com,127.0.0.1')
    expect(commandVariables({ ...input, env: { NO_PROXY: 'a' } }).env['NO_PROXY']).toBe('a')
  })

  test('`--var` cannot set another namespace', () => {
    expect(() => commandVariables({ ...input, vars: { DEVCTL_NAMESPACE: 'x' } })).toThrow(UserError)
  })

  test('secrets are the values of `--var`, tokens, and variables with names of secrets', () => {
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
