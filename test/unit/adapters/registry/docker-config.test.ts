import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readRegistryCredentials } from '../../../../adapters/registry/docker-config.ts'
import { registryOf } from '../../../../adapters/registry/registry.ts'
import { pullSecretContent } from '../../../../operations/deploy/registry-credentials.ts'

const auth = (text: string) => ({ auth: Buffer.from(text).toString('base64') })

/** A folder with a Docker configuration, and credential helpers that are scripts. */
function docker(config: unknown, helpers: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-docker-'))
  writeFileSync(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config))
  mkdirSync(join(folder, 'bin'))
  for (const [name, script] of Object.entries(helpers)) {
    const file = join(folder, 'bin', `docker-credential-${name}`)
    writeFileSync(file, `#!/bin/sh\n[ "$1" = get ] || exit 9\nread server\n${script}\n`)
    chmodSync(file, 0o755)
  }
  return { DOCKER_CONFIG: folder, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
}

const read = (env: Readonly<Record<string, string>>, ...registries: readonly string[]) =>
  readRegistryCredentials(registries, { env, signal: new AbortController().signal })

const login = (username: string, password: string) => ({ kind: 'login', username, password })

test.each([
  ['nginx', 'docker.io'],
  ['library/nginx:1.27', 'docker.io'],
  ['docker.io/library/nginx', 'docker.io'],
  ['index.docker.io/team/web', 'docker.io'],
  ['localhost/web', 'localhost'],
  ['localhost:5000/web', 'localhost:5000'],
  ['127.0.0.1:5000/team/web@sha256:0', '127.0.0.1:5000'],
  ['Registry.example.com/web', 'registry.example.com'],
  ['nginx:1.27', 'docker.io'],
])('the registry of %s is %s', (image, registry) => {
  expect(registryOf(image)).toBe(registry)
})

describe('the Docker configuration', () => {
  test('logins in the file are found by host and by address', async () => {
    const env = docker({
      auths: {
        'https://index.docker.io/v1/': auth('ann:hub'),
        'registry.example.com': auth('bob:with:colons'),
        'https://old.example.com/v2/': { username: 'cid', password: 'plain' },
        'empty.example.com': {},
        'null.example.com': null,
      },
    })
    const found = await read(env, 'docker.io', 'registry.example.com', 'old.example.com', 'empty.example.com')
    expect(Object.fromEntries(found)).toEqual({
      'docker.io': login('ann', 'hub'),
      'registry.example.com': login('bob', 'with:colons'),
      'old.example.com': login('cid', 'plain'),
      'empty.example.com': { kind: 'none' },
    })
    expect((await read(env, 'example.com')).get('example.com')).toEqual({ kind: 'none' })
  })

  test('the helper of a registry, or else the store, is asked by the name that it knows', async () => {
    const env = docker(
      {
        auths: { 'https://index.docker.io/v1/': {} },
        credsStore: 'store',
        credHelpers: { 'gcr.io': 'gcloud' },
      },
      {
        store: 'echo "{\\"ServerURL\\":\\"x\\",\\"Username\\":\\"of-store\\",\\"Secret\\":\\"$server\\"}"',
        gcloud: 'echo "{\\"Username\\":\\"of-helper\\",\\"Secret\\":\\"$server\\"}"',
      },
    )
    const found = await read(env, 'docker.io', 'gcr.io', 'quay.io')
    expect(Object.fromEntries(found)).toEqual({
      'docker.io': login('of-store', 'https://index.docker.io/v1/'),
      'gcr.io': login('of-helper', 'gcr.io'),
      'quay.io': login('of-store', 'quay.io'),
    })
  })

  test('a login in the file is used if the store has none', async () => {
    const store = 'echo "credentials not found in native keychain"; exit 1'
    const env = docker({ auths: { 'a.example.com': auth('ann:file') }, credsStore: 'store' }, { store })
    const found = await read(env, 'a.example.com', 'b.example.com')
    expect([...found.values()]).toEqual([login('ann', 'file'), { kind: 'none' }])
  })

  test('identity tokens are distinguished from passwords', async () => {
    const helper = 'echo "{\\"Username\\":\\"<token>\\",\\"Secret\\":\\"abc\\"}"'
    const env = docker(
      { auths: { 'a.example.com': { ...auth('ann:'), identitytoken: 't' } }, credHelpers: { 'b.example.com': 'b' } },
      { b: helper },
    )
    expect([...(await read(env, 'a.example.com', 'b.example.com')).values()]).toEqual([
      { kind: 'token', identityToken: 't' },
      { kind: 'token', identityToken: 'abc' },
    ])
  })

  test.each(['', ' \n'])('the configuration may be empty, as Docker accepts it: %j', async text => {
    expect(await read(docker(text), 'docker.io')).toEqual(new Map([['docker.io', { kind: 'none' }]]))
  })

  test('a login in `auth` takes precedence over `username` and `password`, as in Docker', async () => {
    const plain = { username: 'cid', password: 'plain' }
    const env = docker({
      auths: {
        'a.example.com': { ...plain, ...auth('ann:coded') },
        'b.example.com': { ...plain, auth: '' },
        'c.example.com': { ...plain, ...auth('no colon') },
      },
    })
    const found = await read(env, 'a.example.com', 'b.example.com', 'c.example.com')
    expect([...found.values()]).toEqual([login('ann', 'coded'), login('cid', 'plain'), login('cid', 'plain')])
  })

  test('the configuration may be missing, and its default is in the home', async () => {
    const env = { DOCKER_CONFIG: join(tmpdir(), 'devctl-no-such-folder') }
    expect(await read(env, 'docker.io')).toEqual(new Map([['docker.io', { kind: 'none' }]]))
    const home = mkdtempSync(join(tmpdir(), 'devctl-home-'))
    mkdirSync(join(home, '.docker'))
    writeFileSync(join(home, '.docker/config.json'), JSON.stringify({ auths: { 'a.example.com': auth('a:b') } }))
    expect((await read({ HOME: home }, 'a.example.com')).get('a.example.com')).toEqual(login('a', 'b'))
  })

  test.each([
    ['is cut off', '{"auths": {"a": {"auth": "c2VjcmV0LXZhbHVl"', 'it is not valid JSON'],
    [
      'has other types',
      { auths: { 'ghcr.io': { auth: ['c2VjcmV0LXZhbHVl'] } } },
      '`auths["ghcr.io"].auth` must be a string',
    ],
    ['has a list of helpers', { credHelpers: ['c2VjcmV0LXZhbHVl'] }, '`credHelpers` must be an object'],
    ['is a list', ['c2VjcmV0LXZhbHVl'], 'it must be an object'],
  ])('a configuration that %s is an error without its content', async (_, config, why) => {
    const error = await read(docker(config), 'a').catch(error => error)
    expect(error.message).toMatch(/^the Docker configuration `.*config\.json` cannot be read: /)
    expect(error.message).toContain(`: ${why}`)
    expect(JSON.stringify(error)).not.toContain('c2VjcmV0')
    expect(error.cause).toBeUndefined()
  })

  test.each([
    ['fails', 'echo "secret-value"; exit 3', 'failed (3)'],
    ['prints a word', 'echo "secret-value"', 'did not print credentials: it is not valid JSON'],
    ['prints no password', `echo '{"Username": "secret-value"}'`, 'did not print credentials: `Secret` is missing'],
    [
      'prints a list of passwords',
      `echo '{"Username": "bob", "Secret": ["secret-value"]}'`,
      'did not print credentials: `Secret` must be a string',
    ],
    ['is not installed', undefined, 'is not installed'],
  ])('a helper that %s is an error without its output', async (_, script, why) => {
    const env = docker({ credsStore: 'x' }, script === undefined ? {} : { x: script })
    const error = await read(env, 'a.example.com').catch(error => error)
    expect(error.message).toBe(`the credential helper \`docker-credential-x\` ${why}`)
    expect(JSON.stringify([error.message, error.notes, error.hint])).not.toContain('secret-value')
  })

  test('the name of a helper cannot be a path', async () => {
    const error = await read(docker({ credsStore: '../../bin/sh' }), 'a').catch(error => error)
    expect(error.message).toContain('has a name that is not valid')
  })

  test('a helper that does not answer ends with the signal', async () => {
    const done = new AbortController()
    const env = docker({ credsStore: 'x' }, { x: 'exec sleep 30' })
    const waiting = readRegistryCredentials(['a'], { env, signal: done.signal })
    done.abort('enough')
    await expect(waiting).rejects.toBe('enough')
  })
})

test('a pull secret has the logins as the kubelet reads them, in a stable order', () => {
  const logins = new Map([
    ['registry.example.com', { username: 'bob', password: 'b:c' }],
    ['docker.io', { username: 'ann', password: 'a' }],
  ])
  const content = pullSecretContent(logins)
  expect(JSON.parse(content)).toEqual({
    auths: {
      'https://index.docker.io/v1/': { username: 'ann', password: 'a', ...auth('ann:a') },
      'registry.example.com': { username: 'bob', password: 'b:c', ...auth('bob:b:c') },
    },
  })
  expect(pullSecretContent(new Map([...logins].reverse()))).toBe(content)
})
