import type { Questions } from '../project/questions.ts'
import type { OperationContext } from '../project/session.ts'
import type { EmptiedFolder } from './control/messages.ts'
import type { UpEvent } from './events.ts'

/** The questions that `devctl up` can ask the user. */
export interface UpQuestions extends Questions {
  /**
   * Returns what to do with a folder that has lost files on one side; undefined leaves it unchanged. The signal is
   * aborted when the files are back, or another command has answered.
   */
  readonly whatOfEmptied?: (folder: EmptiedFolder, signal: AbortSignal) => Promise<'delete' | 'restore' | undefined>
  /** True if a line is to be put into ~/.ssh/config, so that `ssh HOST` works; asked once. */
  readonly maySetUpSsh?: (line: string, host: string) => Promise<boolean>
}

/** The surroundings of an operation on development containers, besides its input. */
export interface DevelopContext extends OperationContext<UpEvent> {
  readonly ask?: UpQuestions
}
