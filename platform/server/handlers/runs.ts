import type { runRoutes } from '../../api/runs.ts'
import type { Services } from '../create-services.ts'
import { toRunAnswer } from '../http/answers.ts'
import type { HandlersOf } from './handler.ts'

export function runHandlers({
  users,
  runs,
  runLogs,
}: Pick<Services, 'users' | 'runs' | 'runLogs'>): HandlersOf<typeof runRoutes> {
  return {
    'GET /runs': async ({ query, by }) => {
      const { last, ...which } = query
      const wanted = { ...which, ...(last !== undefined && { last: Number(last) }) }
      const [found, people] = await Promise.all([runs.visible(by.user, wanted), users.byId()])
      return { items: found.map(run => toRunAnswer(run, people)) }
    },
    'POST /runs': async ({ body, by, note }) => {
      const run = await runs.create(by.user, body)
      const { id, namespace, environment, action } = run
      note({ what: { id, namespace, environment, action } })
      return toRunAnswer(run, new Map([[by.user.id, by.user]]))
    },
    'GET /runs/:id': async ({ params, by }) =>
      toRunAnswer(await runs.require(by.user, params.id, 'see', 'see this'), await users.byId()),
    'POST /runs/:id/cancel': async ({ params, by }) => {
      const run = await runs.require(by.user, params.id, 'deploy', 'cancel a run')
      const stopped = await runs.stop(run.id, { why: 'cancelled', by: by.user.id })
      return toRunAnswer(stopped ?? run, await users.byId())
    },
    'GET /runs/:id/log': async ({ params, by, after, signal }) => {
      const run = await runs.require(by.user, params.id, 'see', 'see this')
      return runLogs.follow(by, run, after, signal)
    },
  }
}
