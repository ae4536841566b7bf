import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type Surroundings, stateHome } from '../../project/contexts/home.ts'
import { version } from '../../project/version.ts'
import { durationOf, outcomeOf, plainVersion, systemOf, type UsedCommand } from '../rules/usage.ts'

// Pending counts are stored in a separate file for each platform until a background process sends them, so that no
// command waits for the network.

/** Size in bytes of the pending counts of a platform above which no further commands are counted. */
const MOST = 16 * 1024
/**
 * Minimum interval between two requests with counts, in milliseconds. Short enough for administrators to see a command
 * within a minute.
 */
const EVERY = 10_000
/** Maximum number of commands in one request; older commands are dropped. */
const TOGETHER = 100

export const isUsageOff = (around: Surroundings): boolean => isTrackingOff(around) || existsSync(offFile(around))

/** True if `DO_NOT_TRACK` is set, which users set for all programs: https://consoledonottrack.com */
export const isTrackingOff = ({ env }: Surroundings): boolean => !['', '0', 'false'].includes(env.DO_NOT_TRACK ?? '')

/**
 * Enables or disables the counting of commands. Deletes the pending counts in both cases. Throws a UserError if the
 * setting cannot be written.
 */
export function setUsage(around: Surroundings, isOn: boolean): void {
  const folder = folderOf(around)
  try {
    rmSync(folder, { recursive: true, force: true })
    if (isOn) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(offFile(around), '', { mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // only node:fs throws here
    throw new UserError(`cannot write \`${folder}\`: ${code}`, {
      hint: 'check its permissions; `DEVCTL_HOME` names another folder, and `DO_NOT_TRACK=1` disables analytics, too',
      cause: error,
    })
  }
}

/** A command that was run on a platform. */
export interface RanCommand {
  /** Name of the command, without its arguments and options. */
  readonly command: string
  readonly platform: string
  readonly milliseconds: number
  /** Exit status of the command. */
  readonly status: number
}

/**
 * Counts a command in the usage statistics of its platform. Never throws: a command that cannot be counted is skipped.
 * Returns true if the caller has to send the counts, because no other process is about to send them.
 */
export function recordUsage(around: Surroundings, { command, platform, milliseconds, status }: RanCommand): boolean {
  const used: UsedCommand = {
    command,
    version: plainVersion(version()),
    system: systemOf(process.platform),
    duration: durationOf(milliseconds),
    outcome: outcomeOf(status),
  }
  try {
    if (isUsageOff(around)) return false
    mkdirSync(folderOf(around), { recursive: true, mode: 0o700 })
    const file = fileOf(around, platform)
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < MOST)
      appendFileSync(file, `${JSON.stringify(used)}\n`, { mode: 0o600 })
    const sent = statSync(sentFile(around, platform), { throwIfNoEntry: false })?.mtimeMs ?? 0
    return Date.now() - sent > EVERY
  } catch {
    return false
  }
}

/**
 * Sends the pending counts with `send`, and repeats this until no further counts have arrived within an interval. While
 * this process runs, commands do not send their counts, but leave that to this process. If `send` throws, the remaining
 * counts wait for the next command. `pause` waits the given number of milliseconds.
 */
export async function sendUsage(
  around: Surroundings,
  platform: string,
  send: (commands: readonly UsedCommand[]) => Promise<unknown>,
  pause: (milliseconds: number) => Promise<unknown> = setTimeout,
): Promise<void> {
  // A command that runs after this loop starts its own process.
  while (await sendOnce(around, platform, send)) await pause(EVERY + 1000)
}

/**
 * Sends the pending counts once. Returns true if counts were sent. Returns false if there were none, or if they could
 * not be sent and are kept.
 */
async function sendOnce(
  around: Surroundings,
  platform: string,
  send: (commands: readonly UsedCommand[]) => Promise<unknown>,
): Promise<boolean> {
  if (isUsageOff(around)) return false
  const file = fileOf(around, platform)
  if (!existsSync(file)) return false
  // Keeps other processes from sending at the same time, or right after a failure.
  writeFileSync(sentFile(around, platform), '', { mode: 0o600 })
  const own = `${file}.${process.pid}`
  renameSync(file, own)
  try {
    await send(readUsage(own).slice(-TOGETHER))
    return true
  } catch {
    // The file is missing if counting was disabled meanwhile.
    if (existsSync(own)) appendFileSync(file, readFileSync(own), { mode: 0o600 })
    return false
  } finally {
    rmSync(own, { force: true })
  }
}

function readUsage(file: string): readonly UsedCommand[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap(line => {
    try {
      const { command, version, system, duration, outcome } = JSON.parse(line) as UsedCommand // that it has written
      return [{ command, version, system, duration, outcome }]
    } catch {
      return []
    }
  })
}

const folderOf = (around: Surroundings): string => join(stateHome(around), 'analytics')
const offFile = (around: Surroundings): string => join(folderOf(around), 'off')
const fileOf = (around: Surroundings, platform: string): string =>
  join(folderOf(around), createHash('sha256').update(platform).digest('hex').slice(0, 16))
const sentFile = (around: Surroundings, platform: string): string => `${fileOf(around, platform)}.sent`
