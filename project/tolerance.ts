import type { Workspace } from './workspace.ts'

/** Option that determines whether a failure ends a wait. */
export interface Tolerance {
  /**
   * True if a failure does not end a wait: everything is waited for until the deadline. If absent or false,
   * DEVCTL_TOLERATE_FAILURES decides.
   */
  readonly tolerateFailures?: boolean | undefined
}

/**
 * Returns true if a failure does not end a wait, according to the option, or to DEVCTL_TOLERATE_FAILURES with any value
 * other than `0` and `false`.
 */
export const toleratesFailures = ({ env }: Pick<Workspace, 'env'>, { tolerateFailures = false }: Tolerance): boolean =>
  tolerateFailures || !['', '0', 'false'].includes(env['DEVCTL_TOLERATE_FAILURES'] ?? '')
