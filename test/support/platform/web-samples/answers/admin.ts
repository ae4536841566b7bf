import { PROVIDER } from '../data/people.ts'
import { SAMPLE_SETTINGS, sampleAnalytics, sampleOverview } from '../data/platform.ts'
import type { Samples } from '../sample.ts'
import { type SampleTeam, toPerson, userOf } from '../team.ts'
import { timesFrom } from '../times.ts'

const countsOf = ({ users, namespaces, runs }: SampleTeam) => {
  const withStatus = (...wanted: readonly string[]) => namespaces.filter(one => wanted.includes(one.status)).length
  const inState = (state: string) => runs.filter(one => one.state === state).length
  return {
    users: {
      all: users.length,
      admins: users.filter(one => one.role === 'admin').length,
      suspended: users.filter(one => one.isSuspended).length,
    },
    namespaces: {
      all: namespaces.length,
      awake: withStatus('Active'),
      asleep: withStatus('Sleeping'),
      deleting: withStatus('Deleting'),
      failed: withStatus('DeleteFailed'),
      previews: namespaces.filter(one => one.kind === 'preview').length,
    },
    runs: { queued: inState('queued'), running: inState('running'), most: SAMPLE_SETTINGS.runs?.inAll ?? 0 },
  }
}

/** Samples for administrators. */
export const adminSamples = {
  'GET /admin/overview': ({ team }) => sampleOverview(timesFrom(Date.now()), countsOf(team)),
  'GET /settings': () => SAMPLE_SETTINGS,
  'GET /admin/analytics': ({ team }) => ({ items: sampleAnalytics(timesFrom(team.now)) }),
  'GET /users': ({ team }) => ({ items: team.users.map(one => ({ ...toPerson(one), provider: PROVIDER.host })) }),
  'GET /admin/users': ({ team }) => ({ items: team.users }),
  'PATCH /admin/users/:user': ({ team, params, body }) => Object.assign(userOf(team, params.user), body),
} satisfies Samples
