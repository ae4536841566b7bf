import type { Readable } from 'node:stream'
import type { OperationContext } from '../../project/session.ts'
import type { AttachedTerminal } from '../exec/exec-service.ts'

export interface RunContext extends OperationContext {
  /**
   * Writes a part of the output: bytes of the log, which contains both outputs of the program. The next part is read
   * after the returned promise resolves.
   */
  readonly write: (part: Uint8Array) => Promise<void> | void
  /** Input for the command. If absent, the command gets no input, unless it has a terminal. */
  readonly input?: Readable | undefined
  /** Terminal for the command, instead of `write` and `input`. It must have a size. */
  readonly terminal?: AttachedTerminal | undefined
}
