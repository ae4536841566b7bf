import type { CommonEvent } from '../../project/events.ts'

/** Reports refused and accepted credentials of the user of a session, whichever of its parts has used them. */
export class Credentials {
  readonly #on: (event: CommonEvent) => void
  #isRefused = false

  constructor(on: (event: CommonEvent) => void) {
    this.#on = on
  }

  /** The cluster refuses them: said once, until it accepts them again. */
  refused({ message }: Error): void {
    if (this.#isRefused) return
    this.#isRefused = true
    const hint = 'log in again, in another terminal: `up` goes on by itself'
    this.#on({ type: 'warning', text: message, hint })
  }

  /** The cluster has answered. */
  accepted(): void {
    if (!this.#isRefused) return
    this.#isRefused = false
    this.#on({ type: 'note', text: 'the cluster accepts the credentials again' })
  }
}
