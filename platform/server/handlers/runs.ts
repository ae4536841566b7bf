import type { RunEvent, runRoutes } from '../../api/runs.ts'
import { toRunAnswer } from '../answers.ts'
import { stillAllowed } from '../caller.ts'
import { type Followed, followRun } from '../follow-run.ts'
import type { PlatformParts } from '../make-parts.ts'
import { OpenStreams } from '../open-streams.ts'
import { whileAllowed } from '../while-allowed.ts'
import type { PlatformWorld } from '../world.ts'
import type { HandlersOf, StreamEvent } from './handler.ts'

/** Logs that are followed at the same time: of each, a part is in memory. */
const FOLLOWED = { ofOne: 12, ofAll: 100, what: 'logs of runs' }

export function runHandlers(world: PlatformWorld, parts: PlatformParts): HandlersOf<typeof runRoutes> {
  const { users, runs } = parts
  const following = new OpenStreams(FOLLOWED)
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
      following.check(by.user.id)
      const person = await users.find(run.user)
      const people = new Map(person ? [[person.id, person]] : [])
      const number = /^\d{1,9}$/.test(after ?? '') ? Number(after) : 0
      const events = (open: AbortSignal) => toEvents(followRun(world, runs, run.id, number, open), people)
      const check = async () => {
        const { user } = await stillAllowed(by, parts, world.now())
        await runs.require(user, run.id, 'see', 'this')
      }
      return following.counted(by.user.id, whileAllowed(events, signal, check))
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
