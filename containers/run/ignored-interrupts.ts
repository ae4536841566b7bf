import { Transform } from 'node:stream'

const CTRL_C = 3
/** Time in milliseconds within which repeated Ctrl-C counts as one press, because a held key repeats. */
const ONE_PRESS = 200

/** Reactions to a program that ignores Ctrl-C. */
export interface InterruptActions {
  /** Called at the second Ctrl-C without effect; one more ends the run. */
  readonly warn: () => void
  /** Called for the third Ctrl-C. */
  readonly end: () => void
  /** Returns the time in milliseconds. */
  readonly now: () => number
}

/**
 * Watches the keys of a terminal for Ctrl-C without effect: a program ignores Ctrl-C if it is the first process of a
 * container and does not handle the signal. Output after the key shows that a program, such as a shell or an editor,
 * has handled the signal. Other keys show that the program is still used.
 */
export class IgnoredInterrupts {
  readonly #actions: InterruptActions
  #count = 0
  #last = Number.NEGATIVE_INFINITY

  constructor(actions: InterruptActions) {
    this.#actions = actions
  }

  /** Returns a stream that watches the keys written to it and passes them on to `input`. */
  keysTo(input: NodeJS.WritableStream): Transform {
    const keys = new Transform({
      transform: (part: Buffer, _, done) => {
        this.typed(part)
        done(null, part)
      },
    })
    keys.on('error', () => {})
    keys.pipe(input)
    return keys
  }

  typed(part: Uint8Array): void {
    const { now, warn, end } = this.#actions
    if (part.some(key => key !== CTRL_C)) {
      this.#count = 0
      return
    }
    if (part.length === 0 || now() - this.#last < ONE_PRESS) return
    this.#last = now()
    this.#count++
    if (this.#count === 2) warn()
    if (this.#count === 3) end()
  }

  printed(part: Uint8Array): void {
    // The terminal prints `^C` for the key.
    if (/[^\s^C]/.test(Buffer.from(part).toString('latin1'))) this.#count = 0
  }
}
