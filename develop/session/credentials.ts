import type { CommonEvent } from '../../project/events.ts'

/** Reports when the cluster refuses the user's credentials or accepts them again, for all parts of a session. */
export class Credentials {
  readonly #on: (event: CommonEvent) => void
  #isRefused = false

  constructor(on: (event: CommonEvent) => void) {
    this.#on = on
  }

  /** Reports that the cluster refuses the credentials, but only once until it accepts them again. */
  refused({ message }: Error): void {
    if (this.#isRefused) return
    this.#isRefused = true
    const hint = 'log in again, in another terminal: `up` goes on by itself'
    this.#on({ type: 'warning', text: message, hint })
  }

  /** Records an answer of the cluster, which means that the credentials are accepted. */
  accepted(): void {
    if (!this.#isRefused) return
    this.#isRefused = false
    this.#on({ type: 'note', text: 'the cluster accepts the credentials again' })
  }
}
