import { describe, expect, test } from 'vitest'
import {
  type ForgeServer,
  forgeServers,
  isForgeServer,
  servedRepository,
} from '../../../../platform/rules/forge-servers.ts'

const gitea = { kind: 'gitea', url: 'https://git.example.com' } as const
const below = { kind: 'gitlab', url: 'https://example.com/gitlab', api: 'https://api.example.com/v4' } as const

describe('the server of a repository', () => {
  const capitals = { kind: 'gitea', url: 'https://Forge.Example.com:443/Git' } as const
  const servers = forgeServers(
    [gitea, below, capitals],
    [{ url: 'https://sso.example.com/' }, { url: 'HTTPS://Jobs.Example.com:443/' }],
  )
  test.each<readonly [string, ForgeServer['kind'], object | string]>([
    ['https://git.example.com/team/shop.git', undefined, { kind: 'gitea', web: gitea.url, path: 'team/shop' }],
    ['https://git.example.com/team/shop', 'gitea', { kind: 'gitea', web: gitea.url, path: 'team/shop' }],
    [
      'https://example.com/gitlab/a/b/shop',
      undefined,
      { kind: 'gitlab', web: below.url, api: below.api, path: 'a/b/shop' },
    ],
    ['https://github.com/a/b', undefined, { kind: 'github', web: 'https://github.com', path: 'a/b' }],
    ['https://sso.example.com/a/b', 'gitea', { kind: 'gitea', web: 'https://sso.example.com', path: 'a/b' }],
    ['https://sso.example.com/a/b', undefined, 'not configured'],
    [
      'https://git.example.com:443/team/shop',
      undefined,
      { kind: 'gitea', web: 'https://git.example.com', path: 'team/shop' },
    ],
    [
      'https://forge.example.com/Git/team/shop',
      undefined,
      { kind: 'gitea', web: 'https://forge.example.com/Git', path: 'team/shop' },
    ],
    ['https://forge.example.com/git/team/shop', undefined, 'does not contact'],
    ['https://jobs.example.com/a/b', 'gitea', { kind: 'gitea', web: 'https://jobs.example.com', path: 'a/b' }],
    ['https://git.example.com/team/shop', 'github', 'is a `gitea` server'],
    ['https://git.example.com/team', undefined, 'not the path'],
    ['https://git.example.com/a/b/c', undefined, 'not the path'],
    ['https://git.example.com.attacker.example/a/b', undefined, 'does not contact'],
    ['https://git.example.com:8443/a/b', undefined, 'does not contact'],
    ['https://example.com/other/a/b', undefined, 'does not contact'],
    ['https://10.96.0.1/a/b', 'gitea', 'does not contact'],
    ['https://169.254.169.254/a/b', 'github', 'does not contact'],
    ['http://git.example.com/a/b', undefined, 'does not contact'],
  ])('servedRepository finds the server of %s, with the kind %s', (address, kind, wanted) => {
    const found = servedRepository(address, servers, kind)
    if (typeof wanted === 'string') expect(found).toEqual({ ok: false, problem: expect.stringContaining(wanted) })
    else expect(found).toEqual({ ok: true, repository: wanted })
  })
})

test.each([
  ['gitea', { kind: 'gitea', url: 'https://example.com' }],
  ['gitlab', { kind: 'gitlab', url: 'https://example.com' }],
] as const)('a repository is on the server with the longest address, not on the %s server above it', (_kind, above) => {
  const wanted = { ok: true, repository: { kind: 'gitlab', web: below.url, api: below.api, path: 'team/shop' } }
  for (const named of [
    [above, below],
    [below, above],
  ])
    expect(servedRepository(`${below.url}/team/shop`, forgeServers(named, []), undefined)).toEqual(wanted)
})

test.each([
  [gitea, true],
  [below, true],
  [{ url: 'https://git.example.com' }, true],
  [{ ...gitea, api: 'http://127.0.0.1:3000/api/v1' }, true],
  [{ ...gitea, api: 'http://git.example.com/api/v1' }, false],
  [{ ...gitea, url: 'http://git.example.com' }, false],
  [{ ...gitea, url: 'https://git.example.com/' }, false],
  [{ ...gitea, url: 'https://ann:secret@git.example.com' }, false],
  [{ ...gitea, url: 'https://Git.Example.com:443' }, true],
  [{ ...gitea, url: 'https://git.example.com?' }, false],
  [{ ...gitea, kind: 'other' }, false],
  [{ ...gitea, token: 'x' }, false],
  [{ kind: 'gitea' }, false],
  [null, false],
])('isForgeServer(%j) returns %s', (value, is) => {
  expect(isForgeServer(value)).toBe(is)
})
