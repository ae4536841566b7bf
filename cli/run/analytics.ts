import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { isTrackingOff, isUsageOff, type RanCommand, recordUsage, setUsage } from '../../platform/session/usage.ts'
import type { Context } from '../command.ts'
import type { Io } from '../terminal/io.ts'

/**
 * Variable that tells a process to send the stored counts. Its value is the URL of the platform that receives the
 * counts.
 */
const SEND = 'DEVCTL_SEND_ANALYTICS'

interface AnalyticsValues {
  readonly disable: boolean
  readonly enable: boolean
  readonly output: 'text' | 'json'
}

/** Shows or changes whether commands are counted. */
export async function runAnalytics({ io }: Context, { disable, enable, output }: AnalyticsValues): Promise<number> {
  const platform = io.env[SEND]
  if (platform !== undefined) {
    const { sendToPlatform } = await import('../../platform/session/send-usage.ts')
    await sendToPlatform(io, platform)
    return 0
  }
  if (disable && enable) throw new UsageError('`--disable` and `--enable` cannot be combined')
  if (disable || enable) setUsage(io, enable)
  if (output === 'json') io.stdout.write(`${JSON.stringify({ enabled: !isUsageOff(io) }, null, 2)}\n`)
  else
    io.stdout.write(
      isUsageOff(io)
        ? `Analytics are disabled${isTrackingOff(io) ? ' by `DO_NOT_TRACK`' : ''}: devctl counts nothing\n`
        : 'Analytics are enabled: devctl counts commands for the platform that they are run on, and for nobody else\n',
    )
  return 0
}

/**
 * Counts a command that was run on a platform. From time to time, starts a background process that sends the stored
 * counts.
 */
export async function countCommand(io: Io, ran: RanCommand): Promise<void> {
  if (recordUsage(io, ran)) await io.startAgain?.(['analytics'], { [SEND]: ran.platform })
}
