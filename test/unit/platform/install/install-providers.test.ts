import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { requireClientSecrets, wantedProviders } from '../../../../platform/install/install-providers.ts'
import { platformObjects } from '../../../../platform/install/manifests/server.ts'
import { readSettings } from '../../../../platform/server/settings.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

const folder = mkdtempSync(join(tmpdir(), 'devctl-providers-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'secret')
writeFileSync(file, 'canary-secret\n')
writeFileSync(join(folder, 'two'), 'a\nb\n')

const oidc = { oidc: 'https://git.example.com/', oidcClientId: 'devctl', oidcClientSecretFile: file }
const github = { github: true, githubClientId: 'x', githubAllow: ['acme/backend'] } as const

test('wantedProviders keeps providers that are not named, and `-` removes one', async () => {
  const first = await wantedProviders({ ...oidc, oidcAllow: ['groups=backend'] }, [])
  expect(first).toEqual({
    providers: [
      {
        kind: 'oidc',
        id: 'oidc',
        name: 'git.example.com',
        issuer: 'https://git.example.com/',
        clientId: 'devctl',
        allow: [{ claim: 'groups', value: 'backend' }],
      },
    ],
    secrets: { oidc: 'canary-secret' },
    changed: [],
  })
  expect((await wantedProviders({}, first.providers)).providers).toEqual(first.providers)
  const both = await wantedProviders(github, first.providers)
  expect(both.providers.map(({ id }) => id)).toEqual(['oidc', 'github'])
  expect(both.providers[1]).toMatchObject({ url: 'https://github.com', name: 'GitHub', allow: ['acme/backend'] })
  expect((await wantedProviders({ oidc: '-' }, both.providers)).providers.map(({ id }) => id)).toEqual(['github'])
})

test('login rules stay when a provider is named again, but not for another provider', async () => {
  const { providers } = await wantedProviders(
    { ...oidc, ...github, oidcName: 'Git', oidcAllow: ['groups=backend'] },
    [],
  )
  const again = await wantedProviders({ oidc: oidc.oidc, github: true }, providers)
  expect(again.providers).toEqual(providers)
  const allow = async (input: object) =>
    (await wantedProviders({ ...oidc, ...github, githubAllow: undefined, ...input }, providers)).providers.map(
      one => one.allow,
    )
  expect(await allow({ oidcAllow: ['groups=all'] })).toEqual([[{ claim: 'groups', value: 'all' }], ['acme/backend']])
  expect(await allow({ oidc: 'https://git.example.com' })).toEqual([
    [{ claim: 'groups', value: 'backend' }],
    ['acme/backend'],
  ])
  const other = { oidc: 'https://other.example.com', github: 'https://github.example.com' }
  expect(await allow({ ...other, oidcAllow: ['groups=all'], githubAllow: ['acme'] })).toEqual([
    [{ claim: 'groups', value: 'all' }],
    ['acme'],
  ])
})

test.each([
  [{ oidc: 'https://other.example.com', oidcClientId: 'devctl' }, '`oidc` has no rules about who may log in'],
  [{ github: 'https://github.example.com', githubClientId: 'x' }, '`github` has no rules about who may log in'],
])('a provider without rules does not silently replace one with rules: %j', async (input, message) => {
  const { providers } = await wantedProviders({ ...oidc, ...github, oidcAllow: ['groups=backend'] }, [])
  await expect(wantedProviders(input, providers)).rejects.toThrow(message)
  const open = providers.map(one => ({ ...one, allow: [] }))
  expect((await wantedProviders(input, open)).providers.map(({ allow }) => allow)).toEqual([[], []])
})

test.each([
  [{ oidc: 'https://other.example.com', oidcClientId: 'devctl' }, 'the provider `oidc` has no client secret yet'],
  [{ oidc: oidc.oidc, oidcClientId: 'other' }, 'the provider `oidc` has no client secret yet'],
  [{ github: 'https://github.example.com', githubClientId: 'x' }, 'the provider `github` has no client secret yet'],
  [{ oidc: 'https://git.example.com' }, undefined],
  [{ oidc: 'https://other.example.com', oidcClientId: 'devctl', oidcClientSecretFile: file }, undefined],
])('a stored client secret is only for the server and the client that it was for: %j', async (input, message) => {
  const { providers } = await wantedProviders({ ...oidc, ...github, githubAllow: [] }, [])
  const cluster = new MemoryCluster({ namespaces: ['devctl-platform'] })
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login', namespace: 'devctl-platform' },
    data: { oidc: 'b2xk', github: 'b2xk' },
  })
  const required = requireClientSecrets(cluster, await wantedProviders(input, providers), AbortSignal.timeout(5000))
  await (message === undefined ? required : expect(required).rejects.toThrow(message))
})

test('the server reads the installed providers, and no printed object contains the secret', async () => {
  const { providers } = await wantedProviders({ ...oidc, ...github }, [])
  const objects = platformObjects({
    version: '1.0.0',
    domain: 'dev.example.com',
    image: 'x',
    runnerImage: 'y',
    replicas: 1,
    kubernetes: { server: 'https://k.example.com' },
    providers,
  })
  expect(JSON.stringify(objects)).not.toContain('canary-secret')
  const settings = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'settings')?.[
    'data'
  ] as Record<string, string>
  expect(readSettings(settings['settings.json']!).providers).toEqual(providers)
})

test.each([
  [{ oidc: 'https://git.example.com' }, 'which client is the platform at `oidc`?'],
  [{ oidc: 'git.example.com' }, '`--oidc` is `git.example.com`'],
  [{ oidc: 'http://git.example.com' }, '`--oidc` is `http://git.example.com`'],
  [{ oidcName: 'Git' }, 'which OpenID Connect provider?'],
  [{ githubAllow: ['acme'] }, '`--github-…` needs `--github`'],
  [{ ...oidc, oidcAllow: ['email=ann@example.com'] }, '`--oidc-allow` is `email=ann@example.com`'],
  [{ ...github, githubAllow: ['acme/a/b'] }, '`--github-allow` is `acme/a/b`'],
  [{ ...oidc, oidcClientSecretFile: join(folder, 'none') }, 'cannot be read'],
  [{ ...oidc, oidcClientSecretFile: join(folder, 'two') }, 'does not contain a secret on one line'],
])('wantedProviders refuses %j: %s', async (input, message) => {
  await expect(wantedProviders(input, [])).rejects.toThrow(message)
})
