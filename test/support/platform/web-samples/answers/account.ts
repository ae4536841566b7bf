import { LOG_IN_FIRST } from '../../../../../platform/rules/accounts/log-in-first.ts'
import { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { SAMPLE_INFO } from '../data/platform.ts'
import type { Samples } from '../sample.ts'
import { remove, type SampleTeam, userOf, YOU } from '../team.ts'
import { DAY, HOUR, justNow, timesFrom } from '../times.ts'

/** A secret that is shown once, and that nothing accepts. */
const SECRET = 'devctl_api_a-sample-that-opens-nothing'

const you = (team: SampleTeam) => {
  if (!team.isLoggedIn) throw new PlatformError(401, 'login', LOG_IN_FIRST)
  const { lastLogin: _, isSuspended: __, ...me } = userOf(team, YOU.id)
  return me
}

const afterNow = (minutes: number): string => timesFrom(Date.now())(-minutes)

/** Samples for the user, their tokens, and logins. Nothing is checked: each code and each token is accepted. */
export const accountSamples = {
  'GET /info': () => SAMPLE_INFO,
  'GET /me': ({ team }) => you(team),
  'GET /me/tokens': ({ team }) => ({ items: team.tokens }),
  'POST /me/tokens': ({ team, body: { label, days = 30 } }) => {
    const expires = afterNow(days * DAY)
    team.tokens.push({ id: team.makeId('token'), kind: 'api', label, created: justNow(), expires })
    return { token: SECRET, expires, login: YOU.login }
  },
  'DELETE /me/tokens/:id': ({ team, params }) => remove(team.tokens, one => one.id === params.id),
  'POST /auth/setup': ({ team }) => {
    team.isLoggedIn = true
    return { login: YOU.login, expires: afterNow(12 * HOUR) }
  },
  'POST /auth/claim': ({ team }) => you(team),
  'POST /auth/cli/code': () => ({ code: 'sample' }),
  'POST /auth/device/look': () => ({ label: 'ann@laptop', created: justNow() }),
  'POST /auth/device/answer': () => undefined,
  'POST /auth/logout': ({ team }) => {
    team.isLoggedIn = false
  },
} satisfies Samples
