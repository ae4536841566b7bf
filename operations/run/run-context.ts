import type { Readable } from 'node:stream'
import type { OperationContext } from '../../project/session.ts'
import type { AttachedTerminal } from '../exec/exec-service.ts'

export interface RunContext extends OperationContext {
  /**
   * Writes a part of the output: bytes of the log, which has both outputs of the program. No further part is read until
   * it resolves.
   */
  readonly write: (part: Uint8Array) => Promise<void> | void
  /** Input for the command. If absent, and without a terminal, it has none. */
  readonly input?: Readable | undefined
  /** Terminal for the command, instead of `write` and `input`. It must have a size. */
  readonly terminal?: AttachedTerminal | undefined
}
