import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isPlatform } from '../../operations/contexts/store.ts'
import type { Target, TargetOptions } from '../../operations/contexts/target.ts'
import type { Platform } from '../../operations/platform/connect-platform.ts'
import { findTargetWithHome } from '../../operations/platform/target-with-home.ts'
import type { Io } from '../terminal/io.ts'
import { withDeadline } from './deadline.ts'

/** What a command that needs a platform works on. */
export interface OnPlatform {
  readonly platform: Platform
  readonly target: Target
  readonly signal: AbortSignal
}

/** Runs the work on the platform of the context, under one deadline. Throws a UserError with the alternative for other clusters. */
export async function onPlatform(
  io: Io,
  {
    command,
    options = {},
    instead,
    timeout,
    hint,
    onInterrupt,
    work,
  }: {
    /** Its name: `namespace create`. */
    readonly command: string
    readonly options?: TargetOptions
    /** What to do where there is no platform. */
    readonly instead: (context: string) => string
    readonly timeout?: number | undefined
    /** What to do when it takes too long. */
    readonly hint: string
    readonly onInterrupt?: () => void
    readonly work: (on: OnPlatform) => Promise<number>
  },
): Promise<number> {
  const target = await findTargetWithHome(io, options)
  const { context, stored } = target
  if (!isPlatform(context))
    throw new UserError(`\`devctl ${command}\` needs the platform, which the cluster of \`${context}\` does not have`, {
      hint: instead(context),
    })
  const { connectPlatform } = await import('../../operations/platform/connect-platform.ts')
  const platform = connectPlatform(context, stored.token, io.env)
  const limits = { timeout, hint, ...(onInterrupt && { onInterrupt }) }
  return withDeadline(io, limits, signal => work({ platform, target, signal }))
}

/**
 * The hint after a time-out, and the reaction to Ctrl-C, of a command whose work in the cluster continues; `again` says
 * where to see it.
 */
export const whileItContinues = (
  io: Io,
  again: string | undefined,
): { readonly hint: string; readonly onInterrupt: () => void } => ({
  hint: again === undefined ? 'is the platform running?' : `what was started in the cluster continues; ${again}`,
  onInterrupt: () =>
    io.stderr.write(
      `interrupted\n${again === undefined ? '' : `What was started in the cluster continues; ${again}\n`}`,
    ),
})
