import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Platform } from '../../../platform/session/connect-platform.ts'
import { findTargetWithHome } from '../../../platform/session/target-with-home.ts'
import { isPlatform } from '../../../project/contexts/store.ts'
import { findTarget, type Target, type TargetOptions } from '../../../project/contexts/target.ts'
import type { Io } from '../../terminal/io.ts'
import { withDeadline } from '../deadline.ts'

/** Connection and target of a command on a platform. */
export interface OnPlatform {
  readonly platform: Platform
  readonly target: Target
  readonly signal: AbortSignal
}

/** A command that needs a platform. */
export interface NeedsPlatform {
  /** Name of the command: `namespace create`. */
  readonly command: string
  readonly options?: TargetOptions
  /** Returns the hint for a cluster without the platform; `context` is the context of the cluster. */
  readonly instead: (context: string) => string
}

/**
 * Throws a UserError that names the alternative if the context is not a platform. Commands call this before they look
 * up other input, such as the repository of this folder, because that input is useless without a platform.
 */
export async function requirePlatform(io: Io, needs: NeedsPlatform): Promise<void> {
  checkPlatform((await findTarget(io, needs.options ?? {})).context, needs)
}

function checkPlatform(context: string, { command, instead }: NeedsPlatform): void {
  if (isPlatform(context)) return
  throw new UserError(`\`devctl ${command}\` needs a platform; \`${context}\` is a context of the kubeconfig`, {
    hint: instead(context),
  })
}

/**
 * Runs the work on the platform of the context, under one deadline. If the context is not a platform, throws a
 * UserError that names an alternative.
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
    /** Hint after a timeout. */
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
 * Returns the hint after a timeout and the reaction to Ctrl-C, for a command whose work continues in the cluster.
 * `again` tells the user how to see that work. Without `again`, the hint only asks whether the platform is running.
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

/** Returns the options that select the target, for a hint that names the next command; with a leading space. */
export const sameTarget = ({ namespace, context }: TargetOptions): string =>
  `${namespace === undefined ? '' : ` --namespace ${namespace}`}${context === undefined ? '' : ` --context ${context}`}`
