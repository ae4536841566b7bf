import { describe, expect, test } from 'vitest'
import { fromEnvironment } from '../../../../builds/builder/from-environment.ts'
import type { BuildCache } from '../../../../compiler/values/images/build-cache.ts'
import { imageInput } from '../../../support/buildkit/input.ts'

type Env = Readonly<Record<string, string>>

const cachesOf = (cache: BuildCache, env: Env) => {
  const { cacheFrom, cacheTo } = fromEnvironment(imageInput({ cacheFrom: [cache], cacheTo: [cache] }), env)
  expect(cacheFrom).toEqual(cacheTo)
  return cacheFrom
}

describe('the cache of GitHub Actions', () => {
  const gha = (attributes: Env = {}): BuildCache => ({ type: 'gha', attributes })
  const env = { ACTIONS_RUNTIME_TOKEN: 't', ACTIONS_CACHE_URL: 'https://one', ACTIONS_RESULTS_URL: 'https://two' }

  test.each<[string, Env, Env, Env]>([
    ['has its token and its address', {}, env, { token: 't', url: 'https://one' }],
    [
      'has the second address, if the runner says so',
      {},
      { ...env, ACTIONS_CACHE_SERVICE_V2: 'True' },
      { token: 't', url: 'https://one', url_v2: 'https://two' },
    ],
    [
      'has the second address, if the file says so',
      { version: '2' },
      env,
      { version: '2', token: 't', url: 'https://one', url_v2: 'https://two' },
    ],
    [
      'has the first, if the file says so',
      { version: '1' },
      { ...env, ACTIONS_CACHE_SERVICE_V2: '1' },
      { version: '1', token: 't', url: 'https://one' },
    ],
    ['has the only address', {}, { ...env, ACTIONS_CACHE_URL: '' }, { token: 't', url: 'https://two' }],
    [
      'keeps what the file says',
      { token: 'own', scope: 'web' },
      env,
      { token: 'own', scope: 'web', url: 'https://one' },
    ],
  ])('the cache of GitHub Actions %s', (_, attributes, variables, expected) => {
    expect(cachesOf(gha(attributes), variables)).toEqual([gha(expected)])
  })

  test.each<[string, Env]>([
    ['url', { url: 'https://stranger' }],
    ['url_v2', { url_v2: 'https://stranger', version: '2' }],
  ])('the token is not sent to an address in the file: %s', (_, attributes) => {
    expect(cachesOf(gha(attributes), env)).toEqual([])
  })

  test('the cache is left out if there is no token or no address', () => {
    expect(cachesOf(gha(), {})).toEqual([])
    expect(cachesOf(gha(), { ACTIONS_RUNTIME_TOKEN: 't' })).toEqual([])
    expect(cachesOf(gha(), { ACTIONS_CACHE_URL: 'https://one' })).toEqual([])
  })
})

test.each<[string, Env, Env]>([
  ['has the login of the environment', {}, { access_key_id: 'i', secret_access_key: 's', session_token: 't' }],
  [
    'keeps its own login',
    { access_key_id: 'x', secret_access_key: 'y' },
    { access_key_id: 'x', secret_access_key: 'y' },
  ],
])('a cache in S3 %s', (_, attributes, expected) => {
  const env = { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' }
  const cache = { type: 's3', attributes: { bucket: 'b', ...attributes } }
  expect(cachesOf(cache, env)).toEqual([{ type: 's3', attributes: { bucket: 'b', ...expected } }])
  expect(cachesOf(cache, {})).toEqual([cache])
})

test('other caches stay as they are', () => {
  const cache = { type: 'azblob', attributes: { account_url: 'https://x' } }
  expect(cachesOf(cache, { AWS_ACCESS_KEY_ID: 'i', ACTIONS_RUNTIME_TOKEN: 't' })).toEqual([cache])
})

test('the agent is that of SSH_AUTH_SOCK unless the file names paths', () => {
  const input = imageInput({
    ssh: new Map([
      ['default', []],
      ['key', ['/key']],
    ]),
  })
  expect(Object.fromEntries(fromEnvironment(input, { SSH_AUTH_SOCK: '/agent' }).ssh)).toEqual({
    default: ['/agent'],
    key: ['/key'],
  })
  expect(fromEnvironment(input, {}).ssh.get('default')).toEqual([])
})

test.each([
  ['git@git.example.com:team/app.git#main', true],
  ['ssh://git@git.example.com/team/app.git', true],
  ['https://git.example.com/team/app.git', false],
  ['docker-image://web@sha256:0', false],
])('the agent is used to fetch %s: %s', (remote, isUsed) => {
  const inputs = [imageInput({ context: { remote } }), imageInput({ contexts: new Map([['other', { remote }]]) })]
  for (const input of inputs) {
    expect(fromEnvironment(input, { SSH_AUTH_SOCK: '/agent' }).ssh.has('default')).toBe(isUsed)
    expect(fromEnvironment(input, {}).ssh.size).toBe(0)
  }
})
