import type { RunEvent, runRoutes } from '../../api/runs.ts'
import { toRunAnswer } from '../answers.ts'
import { type Followed, followRun } from '../follow-run.ts'
import type { PlatformParts } from '../make-parts.ts'
import type { PlatformWorld } from '../world.ts'
import type { HandlersOf, StreamEvent } from './handler.ts'

export function runHandlers(world: PlatformWorld, { users, runs }: PlatformParts): HandlersOf<typeof runRoutes> {
  return {
    'GET /runs': async ({ query, by }) => {
      const [found, people] = await Promise.all([runs.visible(by.user, query), users.byId()])
      return { items: found.map(run => toRunAnswer(run, people)) }
    },
    'POST /runs': async ({ body, by }) =>
      toRunAnswer(await runs.create(by.user, body), new Map([[by.user.id, by.user]])),
    'GET /runs/:id': async ({ params, by }) =>
      toRunAnswer(await runs.require(by.user, params.id, 'see', 'this'), await users.byId()),
    'POST /runs/:id/cancel': async ({ params, by }) => {
      const run = await runs.require(by.user, params.id, 'deploy', 'to cancel a run')
      const stopped = await runs.stop(run.id, { why: 'cancelled', by: by.user.id })
      return toRunAnswer(stopped ?? run, await users.byId())
    },
    'GET /runs/:id/log': async ({ params, by, after, signal }) => {
      const run = await runs.require(by.user, params.id, 'see', 'this')
      const people = await users.byId()
      const number = /^\d{1,9}$/.test(after ?? '') ? Number(after) : 0
      return toEvents(followRun(world, runs, run.id, number, signal), people)
    },
  }
}

async function* toEvents(
  followed: AsyncIterable<Followed>,
  people: Parameters<typeof toRunAnswer>[1],
): AsyncGenerator<StreamEvent<RunEvent>> {
  for await (const event of followed) {
    if (event.type === 'line') yield { id: String(event.number), data: event }
    else yield { data: { type: 'state', run: toRunAnswer(event.run, people) } }
  }
}
