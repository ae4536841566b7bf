import type { Readable } from 'node:stream'
import type { OperationContext } from '../../project/session.ts'
import type { AttachedTerminal } from '../exec/exec-service.ts'

export interface RunContext extends OperationContext {
  /** Prints a line of the output; no further line is read until it resolves. */
  readonly print: (line: string) => Promise<void> | void
  /** Input for the command. If absent, and without a terminal, it has none. */
  readonly input?: Readable | undefined
  /** Terminal for the command, instead of `print` and `input`. It must have a size. */
  readonly terminal?: AttachedTerminal | undefined
}
