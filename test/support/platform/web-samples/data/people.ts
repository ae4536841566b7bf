import type { Person } from '../../../../../platform/api/common.ts'
import type { TokenInfo } from '../../../../../platform/api/me.ts'
import type { ReplyOf } from '../../../../../platform/api/routes.ts'
import type { ShownUser } from '../../../../../platform/api/users.ts'
import type { ShownVariable } from '../../../../../platform/api/variables.ts'
import { sampleId } from '../ids.ts'
import { DAY, HOUR, type MinutesAgo } from '../times.ts'

/** The administrator, who makes all requests. */
export const ANN: Person = { id: sampleId('ann', 0), login: 'ann', name: 'Ann Meyer' }
export const BOB: Person = { id: sampleId('bob', 0), login: 'bob', name: 'Bob Okafor' }

/** Host of the login provider that the people come from. */
export const PROVIDER = { id: 'example', name: 'Example ID', host: 'id.example.com' } as const

export const sampleUsers = (at: MinutesAgo): ShownUser[] => [
  { ...ANN, email: 'ann@example.com', role: 'admin', home: 'ann', lastLogin: at(2 * HOUR) },
  { ...BOB, email: 'bob@example.com', role: 'developer', lastLogin: at(26 * HOUR) },
]

export const sampleTokens = (at: MinutesAgo): TokenInfo[] => [
  {
    id: sampleId('token', 1),
    kind: 'session',
    label: 'browser',
    created: at(2 * HOUR),
    expires: at(-12 * HOUR),
    lastUse: at(0),
    isThis: true,
  },
  {
    id: sampleId('token', 2),
    kind: 'cli',
    label: 'ann@laptop',
    created: at(12 * DAY),
    expires: at(-78 * DAY),
    lastUse: at(25),
  },
  {
    id: sampleId('token', 3),
    kind: 'api',
    label: 'nightly tests',
    created: at(40 * DAY),
    expires: at(-3 * DAY),
    lastUse: at(9 * HOUR),
  },
  { id: sampleId('token', 4), kind: 'api', label: 'dashboard', created: at(5 * DAY), expires: at(-360 * DAY) },
]

export const sampleVariables = (at: MinutesAgo): Map<string, ShownVariable[]> =>
  new Map([
    [
      'admin',
      [
        { name: 'NPM_REGISTRY', set: at(90 * DAY), by: ANN },
        { name: 'SENTRY_DSN', set: at(31 * DAY), by: ANN },
      ],
    ],
    ['user', [{ name: 'DEBUG', set: at(3 * DAY), by: ANN }]],
    [
      'namespace:shop',
      [
        { name: 'GREETING', set: at(6 * DAY), by: BOB },
        { name: 'PAYMENT_URL', set: at(20 * DAY), by: ANN },
        { name: 'STRIPE_KEY', set: at(20 * DAY), by: ANN },
      ],
    ],
  ])

export const sampleCredentials = (at: MinutesAgo): Map<string, ReplyOf<'GET /credentials/:scope'>['items']> =>
  new Map([
    ['user', [{ host: 'git.example.com', user: 'ann', set: at(60 * DAY), by: ANN }]],
    ['namespace:shop', [{ host: 'git.example.com', user: 'deploy-reader', set: at(20 * DAY), by: ANN }]],
  ])
