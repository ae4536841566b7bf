import type { ReplyOf } from '../../api/routes.ts'
import { DURATIONS, OUTCOMES } from '../../rules/usage.ts'

/** The counts of one day, as the platform returns them. */
type Day = ReplyOf<'GET /admin/analytics'>['items'][number]
type Counts = Readonly<Record<string, number>>

/**
 * Item with the number of its uses. `share` is this count divided by the largest count among the items of the same
 * kind.
 */
export interface Counted {
  readonly name: string
  readonly count: number
  readonly share: number
}

/** Usage of one command. */
export interface UsedOften extends Counted {
  /**
   * Failed commands as a percentage of the commands that succeeded or failed. Interrupted and mistyped commands are not
   * counted.
   */
  readonly failed: number
  /** Upper limit of the median duration, as text; undefined if the median is more than ten minutes. */
  readonly half: string | undefined
}

/** The commands that users have run in a number of days. */
export interface UsageSum {
  readonly all: number
  /** Count of each day, oldest first. */
  readonly days: readonly Counted[]
  /** Commands, the most used first. */
  readonly commands: readonly UsedOften[]
  readonly versions: readonly Counted[]
  readonly systems: readonly Counted[]
}

const DAY = 86_400_000
const WORDS: Readonly<Record<string, string>> = { '1s': '1 s', '10s': '10 s', '1m': '1 min', '10m': '10 min' }

/** Sums up the counts of the last `number` days up to `now`, which is in milliseconds since 1970. Days are in UTC. */
export function sumOfDays(items: readonly Day[], now: number, number: number): UsageSum {
  const byDay = new Map(items.map(one => [one.day, one]))
  const wanted = Array.from({ length: number }, (_, at) =>
    new Date(now - (number - 1 - at) * DAY).toISOString().slice(0, 10),
  )
  const found = wanted.flatMap(day => byDay.get(day) ?? [])
  const commands = new Map<string, Map<string, number>>()
  for (const one of found)
    for (const [name, counts] of Object.entries(one.commands)) {
      const sums = commands.get(name) ?? new Map<string, number>()
      add(sums, counts)
      commands.set(name, sums)
    }
  const days = wanted.map(day => [day, runsOf(Object.values(byDay.get(day)?.commands ?? {}))] as const)
  const used = [...commands].map(([name, sums]) => ({ name, sums, count: runsOf([Object.fromEntries(sums)]) }))
  const shares = counted(used.map(({ name, count }) => [name, count]))
  return {
    all: days.reduce((sum, [, count]) => sum + count, 0),
    days: counted(days),
    commands: inOrder(shares).map(one => ({ ...one, ...outcomeOf(commands.get(one.name) ?? new Map()) })),
    versions: inOrder(counted(sumOf(found.map(({ versions }) => versions)))),
    systems: inOrder(counted(sumOf(found.map(({ systems }) => systems)))),
  }
}

/** Returns how many commands have ended, with any outcome. */
const runsOf = (all: readonly Counts[]): number =>
  all.reduce((sum, counts) => sum + OUTCOMES.reduce((of, outcome) => of + (counts[outcome] ?? 0), 0), 0)

function outcomeOf(sums: ReadonlyMap<string, number>): Pick<UsedOften, 'failed' | 'half'> {
  const [done, failed] = [sums.get('done') ?? 0, sums.get('failed') ?? 0]
  const all = DURATIONS.reduce((sum, one) => sum + (sums.get(one) ?? 0), 0)
  let within = 0
  const half = DURATIONS.find(one => {
    within += sums.get(one) ?? 0
    return all > 0 && within * 2 >= all
  })
  return { failed: done + failed === 0 ? 0 : Math.round((failed / (done + failed)) * 100), half: half && WORDS[half] }
}

function sumOf(all: readonly Counts[]): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>()
  for (const counts of all) add(sums, counts)
  return [...sums]
}

function add(sums: Map<string, number>, counts: Counts): void {
  for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count)
}

function counted(all: readonly (readonly [string, number])[]): readonly Counted[] {
  const most = Math.max(1, ...all.map(([, count]) => count))
  return all.map(([name, count]) => ({ name, count, share: count / most }))
}

const inOrder = (all: readonly Counted[]): readonly Counted[] =>
  [...all].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
