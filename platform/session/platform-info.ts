import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { version } from '../../project/version.ts'
import type { Info } from '../api/info.ts'
import { isOlder } from '../rules/cli-version.ts'
import type { Platform } from './connect-platform.ts'

/** Returns what a platform reports about itself. Throws a UserError if the platform needs a newer version of devctl. */
export async function platformInfo(platform: Pick<Platform, 'url' | 'call'>, signal: AbortSignal): Promise<Info> {
  const info = await platform.call('GET /info', {}, signal)
  const own = version()
  if (!isOlder(own, info.minCli)) return info
  throw new UserError(
    `this devctl has the version ${own}, and the platform ${new URL(platform.url).host} needs ${info.minCli} or later`,
    { hint: `upgrade devctl to the version of the platform, ${info.version}, and run the command again` },
  )
}
