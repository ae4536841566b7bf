import type { ExitStatus, LogSource } from '../../environment/logs/source.ts'

/** The events of reading logs, besides the lines. */
export type LogEvent =
  /** A service with `attach: false` is left out, because the user has not named it. */
  | { readonly type: 'left-out'; readonly service: string }
  /** There is no Pod yet that is wanted. */
  | {
      readonly type: 'no-pod'
      /** A DNS label; absent: of the whole namespace. */
      readonly environment?: string
      readonly namespace: string
      /** Not all services are wanted. */
      readonly isFiltered: boolean
      /** True if the command waits for a Pod. */
      readonly follows: boolean
    }
  /** The maximum number of logs is open (`most`); the others wait until one of them ends. */
  | { readonly type: 'too-many-logs'; readonly most: number }
  | { readonly type: 'container-ended'; readonly source: LogSource; readonly exit: ExitStatus }
  /** A log cannot be read; reported once until a line comes. */
  | { readonly type: 'log-unreadable'; readonly source: LogSource; readonly reason: string; readonly follows: boolean }
  /** Something is to be known of a log: lines are missing, for instance. */
  | { readonly type: 'log-note'; readonly source: LogSource; readonly text: string }
