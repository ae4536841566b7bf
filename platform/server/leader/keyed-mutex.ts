/** Runs functions with the same key one after the other. Functions with different keys run concurrently. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const over = mine.then(
      () => {},
      () => {},
    )
    this.#last.set(key, over)
    void over.then(() => {
      if (this.#last.get(key) === over) this.#last.delete(key)
    })
    return mine
  }
}
