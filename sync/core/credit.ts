/** Flow control: limits the number of unacknowledged bytes. */
export class Credit {
  readonly #limit: number
  #used = 0
  #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Resolves when more bytes may be sent. */
  async room(): Promise<void> {
    while (this.#used >= this.#limit) await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  use(bytes: number): void {
    this.#used += bytes
  }

  free(bytes: number): void {
    this.#used -= bytes
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
