import type { Workspace } from './workspace.ts'

/** The part of an operation's input that is about failures. */
export interface Tolerance {
  /**
   * True if failures end no wait: everything is waited for until the deadline. Absent or false:
   * DEVCTL_TOLERATE_FAILURES decides.
   */
  readonly tolerateFailures?: boolean | undefined
}

/**
 * True if failures end no wait: by the option, or by DEVCTL_TOLERATE_FAILURES with any value except `0` and `false`.
 */
export const toleratesFailures = ({ env }: Pick<Workspace, 'env'>, { tolerateFailures = false }: Tolerance): boolean =>
  tolerateFailures || !['', '0', 'false'].includes(env['DEVCTL_TOLERATE_FAILURES'] ?? '')
