/** Record of a command that was run on a platform. It contains only the fields that docs/analytics.md lists. */
export interface UsedCommand {
  /** Name of the command, from `USED_COMMANDS`; `other` for a command that the server does not know. */
  readonly command: string
  /** Version of devctl, such as `0.1.0`. */
  readonly version: string
  readonly system: (typeof SYSTEMS)[number]
  readonly duration: (typeof DURATIONS)[number]
  readonly outcome: (typeof OUTCOMES)[number]
}

export const SYSTEMS = ['linux', 'darwin', 'win32', 'other'] as const
/** Classes of durations of a command, named after their upper limits; `longer` means more than ten minutes. */
export const DURATIONS = ['1s', '10s', '1m', '10m', 'longer'] as const
export const OUTCOMES = ['done', 'failed', 'usage', 'interrupted'] as const

const SECOND = 1000
const LIMITS = [SECOND, 10 * SECOND, 60 * SECOND, 600 * SECOND]

/** Rounds milliseconds up to one of a few durations, because an exact duration could reveal what was deployed. */
export const durationOf = (milliseconds: number): UsedCommand['duration'] =>
  DURATIONS[LIMITS.filter(limit => milliseconds > limit).length] ?? 'longer'

/** Returns the outcome that an exit status means. */
export function outcomeOf(status: number): UsedCommand['outcome'] {
  if (status === 130) return 'interrupted'
  if (status === 2) return 'usage'
  // Status 3 means that there are differences, which the caller wanted to know.
  return status === 0 || status === 3 ? 'done' : 'failed'
}

/** Returns the operating system for the name that Node.js uses; `other` for a system that is not counted by name. */
export const systemOf = (platform: string): UsedCommand['system'] => SYSTEMS.find(one => one === platform) ?? 'other'

/** Removes suffixes that could identify a private build: `0.1.0-ann.3` becomes `0.1.0`. */
export const plainVersion = (version: string): string => /^\d{1,4}\.\d{1,4}\.\d{1,4}/.exec(version)?.[0] ?? '0.0.0'

export const OTHER = 'other'

/**
 * The counts of one day (UTC). Commands, versions and systems are counted separately, so that they cannot be
 * correlated.
 */
export interface UsageDay {
  /** Counts of each command. The keys of the inner object are outcomes and durations, which are counted separately. */
  readonly commands: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly versions: Readonly<Record<string, number>>
  readonly systems: Readonly<Record<string, number>>
}

export const NO_USAGE: UsageDay = { commands: {}, versions: {}, systems: {} }

/** Maximum numbers of distinct commands and versions that are counted in a day; further ones are counted as `other`. */
const MOST = { commands: 120, versions: 20 }

/** Returns the counts of a day with one more command added. */
export function withCommand(day: UsageDay, used: UsedCommand): UsageDay {
  const command = keyIn(day.commands, used.command, MOST.commands)
  const of = day.commands[command] ?? {}
  const version = keyIn(day.versions, used.version, MOST.versions)
  return {
    commands: { ...day.commands, [command]: more(more(of, used.outcome), used.duration) },
    versions: more(day.versions, version),
    systems: more(day.systems, used.system),
  }
}

/** Returns the sums of the counts in two records. */
export function sumOf(one: UsageDay, other: UsageDay): UsageDay {
  const commands = { ...one.commands }
  for (const [name, counts] of Object.entries(other.commands)) {
    const key = keyIn(commands, name, MOST.commands)
    commands[key] = sums(commands[key] ?? {}, counts)
  }
  const versions: Record<string, number> = { ...one.versions }
  for (const [name, count] of Object.entries(other.versions)) {
    const key = keyIn(versions, name, MOST.versions)
    versions[key] = (versions[key] ?? 0) + count
  }
  return { commands, versions, systems: sums(one.systems, other.systems) }
}

/** Returns the key to count under: `key`, or `other` if `key` is new and `counts` already contains `most` keys. */
const keyIn = (counts: object, key: string, most: number): string =>
  Object.hasOwn(counts, key) || Object.keys(counts).length < most ? key : OTHER

const more = (counts: Readonly<Record<string, number>>, key: string) => ({ ...counts, [key]: (counts[key] ?? 0) + 1 })

function sums(one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>): Record<string, number> {
  const all: Record<string, number> = { ...one }
  for (const [key, count] of Object.entries(other)) all[key] = (all[key] ?? 0) + count
  return all
}

/** The commands that are counted by name. A test compares them with the commands of devctl. */
export const USED_COMMANDS: ReadonlySet<string> = new Set([
  'analytics',
  'build',
  'completion',
  'config',
  'context',
  'context delete',
  'context list',
  'context show',
  'context use',
  'cp',
  'credentials',
  'credentials list',
  'credentials set',
  'credentials unset',
  'deploy',
  'destroy',
  'diff',
  'doctor',
  'down',
  'endpoints',
  'events',
  'exec',
  'explain',
  'forward',
  'gitops',
  'gitops init',
  'gitops secrets',
  'graph',
  'help',
  'history',
  'images',
  'init',
  'jobs',
  'kubeconfig',
  'logs',
  'lsp',
  'migrate',
  'namespace',
  'namespace create',
  'namespace delete',
  'namespace list',
  'namespace share',
  'namespace sleep',
  'namespace unshare',
  'namespace use',
  'namespace wake',
  'pipeline',
  'pipeline deploy',
  'pipeline destroy',
  'pipeline list',
  'pipeline logs',
  'platform',
  'platform admin',
  'platform images',
  'platform install',
  'platform invite',
  'platform status',
  'platform uninstall',
  'preview',
  'preview approve',
  'preview deploy',
  'preview destroy',
  'preview endpoints',
  'preview hook',
  'preview list',
  'promote',
  'ps',
  'publish',
  'render',
  'restart',
  'run',
  'scale',
  'schema',
  'start',
  'status',
  'stop',
  'top',
  'up',
  'validate',
  'variables',
  'variables list',
  'variables set',
  'variables unset',
  'version',
  'wait',
])
