import type { OperationEvent } from '../../../api/events.ts'
import type { BuildEvent } from '../../../builds/events.ts'

/**
 * The events that a display shows while a command works. The other events are printed
 * (`terminal-events.ts`).
 */
export type ProgressEvent = StepEvent | BuildEvent

/** The events that have a line each. */
export type StepEvent = Extract<
  OperationEvent,
  { readonly type: 'step' | 'waiting' | 'status' | 'object' | 'output' | 'note' }
>

/** Shows what happens. */
export interface Progress<Event = ProgressEvent> {
  tell(event: Event): void
  /** Ends the display, so that something else can be printed. Later events start a new one. */
  pause(): void
  /**
   * Leaves the terminal to a question or a program: finished lines stay, once. The others are removed until they are
   * reported again.
   */
  makeRoom(): void
  /** Prints permanent output, such as lines of a log, above the display, which continues. */
  above(print: () => void): void
}

/** Shows nothing: for commands that print their result alone. */
export const NO_PROGRESS: Progress = { tell: () => {}, pause: () => {}, makeRoom: () => {}, above: print => print() }
