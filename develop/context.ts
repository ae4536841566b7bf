import type { Questions } from '../project/questions.ts'
import type { OperationContext } from '../project/session.ts'
import type { EmptiedFolder } from './control/messages.ts'
import type { UpEvent } from './events.ts'

/** Questions to the user that `devctl up` can ask. */
export interface UpQuestions extends Questions {
  /**
   * Asks what to do with a folder that has lost files on one side; undefined leaves it unchanged. The signal is aborted
   * if the files are restored, or if another command has answered.
   */
  readonly whatOfEmptied?: (folder: EmptiedFolder, signal: AbortSignal) => Promise<'delete' | 'restore' | undefined>
  /** Asks whether to add a line to ~/.ssh/config so that `ssh HOST` works; asked once. */
  readonly maySetUpSsh?: (line: string, host: string) => Promise<boolean>
}

/** Context of an operation on development containers, besides the input of the operation. */
export interface DevelopContext extends OperationContext<UpEvent> {
  readonly ask?: UpQuestions
}
