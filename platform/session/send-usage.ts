import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { configHome, type Surroundings } from '../../project/contexts/home.ts'
import { readContexts } from '../../project/contexts/store.ts'
import { PlatformRefusal } from '../client/client.ts'
import { connectPlatform } from './connect-platform.ts'
import { sendUsage } from './usage.ts'

/** Timeout for sending, in milliseconds. */
const WITHIN = 20_000

/**
 * Sends the pending counts of commands for a platform to that platform, with the stored login. Does nothing if no login
 * is stored.
 */
export async function sendToPlatform(around: Surroundings, platform: string): Promise<void> {
  const token = readContexts(configHome(around)).contexts.get(platform)?.token
  if (token === undefined) return
  const to = connectPlatform(platform, token, around.env)
  await sendUsage(around, platform, async commands => {
    try {
      await to.call('POST /analytics', { body: { commands: [...commands] } }, AbortSignal.timeout(WITHIN))
    } catch (error) {
      // Drops rejected counts, because a retry would be rejected too: the platform may predate analytics.
      const isRefused = error instanceof UserError && error.cause instanceof PlatformRefusal && error.cause.status < 500
      if (!isRefused) throw error
    }
  })
}
