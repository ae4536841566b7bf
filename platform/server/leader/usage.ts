import { backOff, pause } from '../../../adapters/http/back-off.ts'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGER } from '../../records/names.ts'
import { fromUsage, toData, toUsage, usageRef } from '../../records/usage.ts'
import { Limiter } from '../../rules/accounts/limiter.ts'
import {
  NO_USAGE,
  OTHER,
  sumOf,
  USED_COMMANDS,
  type UsageDay,
  type UsedCommand,
  withCommand,
} from '../../rules/usage.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from './leader.ts'

/** Number of days that are kept. */
const KEPT = 30
const DAY = 86_400_000
/** Time in milliseconds for which counts are collected before they are written. */
const GATHER = 30_000
/** Maximum number of days in memory: two around midnight, and a day that could not be written. */
const MOST = 3
const ATTEMPTS = 10
/** Rate limit for counting the commands of one user. Further commands are ignored. */
const PER_PERSON = { burst: 300, every: 2000, keys: 10_000 }

/**
 * Anonymous counts of commands, by day. Only the rate limiter, which is in memory, knows the user of a command. Counts
 * are collected for half a minute, so that many commands need only one write.
 */
export class Usage {
  readonly #world: ServerContext
  readonly #limiter = new Limiter(PER_PERSON)
  #gathered = new Map<string, UsageDay>()
  #timer: NodeJS.Timeout | undefined

  constructor(world: ServerContext) {
    this.#world = world
  }

  /** Counts commands of a user. */
  count(person: string, commands: readonly UsedCommand[]): void {
    const day = dayOf(this.#world.now())
    for (const used of commands) {
      if (this.#limiter.take(person, performance.now()) > 0) return
      const command = USED_COMMANDS.has(used.command) ? used.command : OTHER
      this.#gathered.set(day, withCommand(this.#gathered.get(day) ?? NO_USAGE, { ...used, command }))
    }
    for (const old of this.#gathered.keys()) {
      if (this.#gathered.size <= MOST) break
      this.#gathered.delete(old)
    }
    this.#timer ??= setTimeout(() => void this.write().catch(() => {}), GATHER).unref()
  }

  /** Returns the counts, the newest day first. */
  async days(): Promise<ReadonlyMap<string, UsageDay>> {
    await this.write()
    const live = toUsage(await this.#world.cluster.get(usageRef))
    return new Map([...live].filter(([day]) => day >= this.#first()).sort(([a], [b]) => (a < b ? 1 : -1)))
  }

  /** Adds the collected counts to the stored ones, and deletes expired days. */
  async write(signal?: AbortSignal): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const gathered = this.#gathered
    this.#gathered = new Map()
    try {
      await this.#add(gathered, signal)
    } catch (error) {
      for (const [day, counts] of gathered) this.#gathered.set(day, sumOf(this.#gathered.get(day) ?? NO_USAGE, counts))
      throw error
    }
  }

  async #add(gathered: ReadonlyMap<string, UsageDay>, signal: AbortSignal | undefined): Promise<void> {
    const { cluster } = this.#world
    for (let attempt = 1; ; attempt++) {
      const live = await cluster.get(usageRef, { signal })
      const known = toUsage(live)
      const over = Object.keys((live?.['data'] as object | undefined) ?? {}).filter(day => day < this.#first())
      if (gathered.size === 0 && over.length === 0) return
      try {
        if (!live) await cluster.create(fromUsage(gathered), { signal })
        else {
          const data = {
            ...Object.fromEntries(over.map(day => [day, null])),
            ...Object.fromEntries(
              [...gathered].map(([day, counts]) => [day, toData(sumOf(known.get(day) ?? NO_USAGE, counts))]),
            ),
          }
          const metadata = { resourceVersion: live.metadata.resourceVersion }
          await cluster.patch(usageRef, { metadata, data }, { manager: MANAGER, signal })
        }
        return
      } catch (error) {
        const isRace = error instanceof ClusterError && ['conflict', 'exists', 'not-found'].includes(error.failure)
        if (!isRace || attempt >= ATTEMPTS) throw error
        await pause(backOff(attempt, 5, 200), signal)
      }
    }
  }

  /** Returns the oldest day whose counts are kept. */
  #first(): string {
    return dayOf(this.#world.now() - (KEPT - 1) * DAY)
  }
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Returns the task that deletes old days even if no more commands are counted. */
export const usageTask = (usage: Usage): LeaderTask => ({
  name: 'old analytics',
  everyMs: DAY / 4,
  run: signal => usage.write(signal),
})
