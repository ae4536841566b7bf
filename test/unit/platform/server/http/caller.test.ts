import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { USERS_NAMESPACE } from '../../../../../platform/records/names.ts'
import type { TokenKind } from '../../../../../platform/rules/accounts/token.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { identify } from '../../../../../platform/server/http/caller.ts'
import type { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { Tokens } from '../../../../../platform/server/login/tokens.ts'
import { LINK_ISSUER, Users } from '../../../../../platform/server/login/users.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const DAY = 86_400_000
const PROVIDER = 'https://issuer.example.com'

test.each<readonly [TokenKind, string, 'asked' | 'not asked', boolean]>([
  ['cli', PROVIDER, 'not asked', false],
  ['api', PROVIDER, 'not asked', false],
  ['session', PROVIDER, 'not asked', true],
  ['run', PROVIDER, 'not asked', true],
  ['cli', PROVIDER, 'asked', true],
  ['api', PROVIDER, 'asked', true],
  ['cli', LINK_ISSUER, 'not asked', true],
  ['api', LINK_ISSUER, 'not asked', true],
])(
  'a %s token of a user of %s, who logged in 31 days ago and was %s since: %s',
  async (kind, issuer, how, isAccepted) => {
    let now = Date.UTC(2026, 0, 1)
    const cluster = new MemoryCluster({ namespaces: [USERS_NAMESPACE] })
    const world = { cluster, now: () => now, random: randomBytes } as unknown as ServerContext
    const [users, tokens] = [new Users(world), new Tokens(world)]
    const { id } = await users.loggedIn({ issuer, subject: '1', login: 'ann' })
    now += 31 * DAY
    if (how === 'asked') await users.change(id, { asked: new Date(now).toISOString() })
    const { text } = await tokens.issue({ kind, label: 'a test', user: id })
    const found = identify(text, { users, tokens }, now).catch((error: PlatformError) => error.body.code)
    expect(await found).toEqual(isAccepted ? expect.objectContaining({ user: expect.anything() }) : 'platform/login')
  },
)
