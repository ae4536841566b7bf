import type { OperationEvent } from '../../../api/events.ts'
import type { BuildEvent } from '../../../builds/events.ts'

/** Events that a display shows while a command runs. Other events are printed (`operation-events.ts`). */
export type ProgressEvent = StepEvent | BuildEvent

/** Events that are shown on one line each. */
export type StepEvent = Extract<
  OperationEvent,
  { readonly type: 'step' | 'waiting' | 'status' | 'object' | 'output' | 'note' }
>

/** A display of events. */
export interface Progress<Event = ProgressEvent> {
  tell(event: Event): void
  /** Ends the display, so that other output can be printed. Later events start a new display. */
  pause(): void
  /**
   * Clears the terminal for a question or a program. Finished lines stay and are not drawn again; other lines are
   * removed until their next event.
   */
  makeRoom(): void
  /** Prints permanent output, such as log lines, above the display. The display stays below the output. */
  above(print: () => void): void
}

/** Display that shows nothing, for commands that only print their result. */
export const NO_PROGRESS: Progress = { tell: () => {}, pause: () => {}, makeRoom: () => {}, above: print => print() }
