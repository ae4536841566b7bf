import type { ExitStatus, LogSource } from '../../environment/logs/source.ts'
import type { JobOverview } from '../../environment/status/jobs.ts'

/** Events while logs are read, in addition to the lines. */
export type LogEvent =
  /** A service with `attach: false` was skipped because the user has not named it. */
  | { readonly type: 'left-out'; readonly service: string }
  /** No matching Pod exists yet. */
  | {
      readonly type: 'no-pod'
      /** Name of the environment, a DNS label. If absent, the logs are those of the full namespace. */
      readonly environment?: string
      readonly namespace: string
      /** True if the logs of only some services are selected. */
      readonly isFiltered: boolean
      /** True if the command waits for a Pod. */
      readonly follows: boolean
    }
  /**
   * Only jobs are selected, and none of their runs has a Pod, because no run has started yet or the Pods were deleted.
   */
  | { readonly type: 'no-run'; readonly jobs: readonly JobOverview[]; readonly follows: boolean }
  /** The maximum number of logs (`most`) is open; further logs wait until an open log ends. */
  | { readonly type: 'too-many-logs'; readonly most: number }
  | { readonly type: 'container-ended'; readonly source: LogSource; readonly exit: ExitStatus }
  /** A log cannot be read. Reported once, until a line arrives again. */
  | { readonly type: 'log-unreadable'; readonly source: LogSource; readonly reason: string; readonly follows: boolean }
  /** Note about a log, for example that lines are missing. */
  | { readonly type: 'log-note'; readonly source: LogSource; readonly text: string }
