import { expect, test } from 'vitest'
import type { PlatformUser } from '../../../../../platform/records/user.ts'
import { type CiRule, jobsOf } from '../../../../../platform/rules/accounts/ci-trust.ts'
import { requireFree } from '../../../../../platform/server/namespaces/new-namespace.ts'

const issuer = 'https://token.actions.githubusercontent.com'
const rules: readonly CiRule[] = [
  { repository: '1', prefix: 'shop-' },
  { repository: '2', prefix: 'shop-api-' },
  { owner: '9', prefix: 'team-' },
  { repository: '3', prefix: 'team-web-' },
]
const ci = [
  { kind: 'github', issuer, rules },
  { kind: 'gitea', issuer: 'https://git.example.com', rules: [{ repository: '7', prefix: 'docs-' }] },
] as const

const jobs = (repository: string, of = issuer) =>
  ({ id: 'j'.repeat(16), issuer: of, subject: jobsOf(repository), login: 'ci:acme/shop', role: 'developer' }) as const
const ann = { id: 'a'.repeat(16), issuer: 'https://git.example.com', subject: '1', login: 'ann', role: 'developer' }
const root = { ...ann, role: 'admin' }

test.each<readonly [string, string, object, string | undefined]>([
  ['jobs of repository 1', 'shop-login', jobs('1'), undefined],
  [
    'jobs of repository 1',
    'shop-api-login',
    jobs('1'),
    'names that begin with `shop-api-` are reserved for CI jobs of another repository',
  ],
  ['jobs of repository 2', 'shop-api-login', jobs('2'), undefined],
  [
    'jobs of repository 2',
    'shop-login',
    jobs('2'),
    'names that begin with `shop-` are reserved for CI jobs of another repository',
  ],
  // A rule for an owner applies to all repositories of the owner, which the platform does not know.
  ['jobs of repository 4', 'team-login', jobs('4'), undefined],
  [
    'jobs of repository 4',
    'team-web-login',
    jobs('4'),
    'names that begin with `team-web-` are reserved for CI jobs of another repository',
  ],
  [
    'jobs of repository 7',
    'docs-login',
    jobs('7'),
    'names that begin with `docs-` are reserved for CI jobs of another repository',
  ],
  ['jobs of repository 7 at another issuer', 'docs-login', jobs('7', 'https://git.example.com'), undefined],
  ['a user', 'shop-login', ann, 'names that begin with `shop-` are reserved for CI jobs'],
  ['a user', 'shopping', ann, undefined],
  ['an administrator', 'shop-api-login', root, undefined],
])(
  'a name whose longest prefix is for CI jobs is free only for these jobs: %s, %s',
  async (_, name, owner, message) => {
    const wanted = { owner: owner as PlatformUser, name, kind: 'preview' } as const
    const done = requireFree(wanted, { all: [], users: [], hooks: { list: async () => [] } }, { ci })
    if (message === undefined) await done
    else await expect(done).rejects.toMatchObject({ status: 403, body: { code: 'platform/kept-name', message } })
  },
)
