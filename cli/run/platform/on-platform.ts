import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Platform } from '../../../platform/session/connect-platform.ts'
import { findTargetWithHome } from '../../../platform/session/target-with-home.ts'
import { isPlatform } from '../../../project/contexts/store.ts'
import { findTarget, type Target, type TargetOptions } from '../../../project/contexts/target.ts'
import type { Io } from '../../terminal/io.ts'
import { withDeadline } from '../deadline.ts'

/** The connection that a command on a platform works with. */
export interface OnPlatform {
  readonly platform: Platform
  readonly target: Target
  readonly signal: AbortSignal
}

/** A command that needs a platform. */
export interface NeedsPlatform {
  /** Its name: `namespace create`. */
  readonly command: string
  readonly options?: TargetOptions
  /** Returns the hint for a cluster without the platform. */
  readonly instead: (context: string) => string
}

/**
 * Throws a UserError with the alternative if the context is not a platform. For commands that look for something else
 * first, such as the repository of this folder: without a platform, no answer to that would help.
 */
export async function requirePlatform(io: Io, needs: NeedsPlatform): Promise<void> {
  checkPlatform((await findTarget(io, needs.options ?? {})).context, needs)
}

function checkPlatform(context: string, { command, instead }: NeedsPlatform): void {
  if (isPlatform(context)) return
  throw new UserError(`\`devctl ${command}\` needs the platform, which the cluster of \`${context}\` does not have`, {
    hint: instead(context),
  })
}

/**
 * Runs the work on the platform of the context, under one deadline. Throws a UserError with the alternative for other
 * clusters.
 */
export async function onPlatform(
  io: Io,
  {
    timeout,
    hint,
    onInterrupt,
    work,
    ...needs
  }: NeedsPlatform & {
    readonly timeout?: number | undefined
    /** Hint for a time-out. */
    readonly hint: string
    readonly onInterrupt?: () => void
    readonly work: (on: OnPlatform) => Promise<number>
  },
): Promise<number> {
  const target = await findTargetWithHome(io, needs.options ?? {})
  const { context, stored } = target
  checkPlatform(context, needs)
  const { connectPlatform } = await import('../../../platform/session/connect-platform.ts')
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

/** The options that say where a command works, for a hint that names the next one; with a space before them. */
export const sameTarget = ({ namespace, context }: TargetOptions): string =>
  `${namespace === undefined ? '' : ` --namespace ${namespace}`}${context === undefined ? '' : ` --context ${context}`}`
