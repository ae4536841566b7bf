import type { RunEvent } from '../../api/runs.ts'
import type { RunRecord } from '../../records/run.ts'
import type { ServerContext } from '../context.ts'
import type { StreamEvent } from '../handlers/handler.ts'
import { toRunAnswer } from '../http/answers.ts'
import { authorizedStream } from '../http/authorized-stream.ts'
import { type Accounts, type Identified, stillAllowed } from '../http/caller.ts'
import { OpenStreams } from '../http/open-streams.ts'
import { type Followed, followRun } from './follow-run.ts'
import type { Runs } from './runs.ts'

/**
 * Maximum number of logs that are followed at the same time: by one user, and in total. There is a limit because a part
 * of each log is in memory.
 */
const FOLLOWED = { ofOne: 12, ofAll: 100, what: 'logs of runs' }

/** The run logs that users are following. */
export class RunLogs {
  readonly #world: ServerContext
  readonly #parts: Accounts & { readonly runs: Runs }
  readonly #following = new OpenStreams(FOLLOWED)

  constructor(world: ServerContext, parts: Accounts & { readonly runs: Runs }) {
    this.#world = world
    this.#parts = parts
  }

  /**
   * Follows a run for as long as the caller may see it, starting after the last line that the client has. Throws a
   * PlatformError if too many logs are followed.
   */
  async follow(
    by: Identified,
    run: RunRecord,
    after: string | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<StreamEvent<RunEvent>>> {
    const { users, runs } = this.#parts
    this.#following.check(by.user.id)
    const person = await users.find(run.user)
    const people = new Map(person ? [[person.id, person]] : [])
    const number = /^\d{1,9}$/.test(after ?? '') ? Number(after) : 0
    const events = (open: AbortSignal) => toEvents(followRun(this.#world, runs, run.id, number, open), people)
    const check = async () => {
      const { user } = await stillAllowed(by, this.#parts, this.#world.now())
      await runs.require(user, run.id, 'see', 'see this')
    }
    return this.#following.counted(by.user.id, authorizedStream(events, signal, check))
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
