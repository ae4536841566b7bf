/** Cleanup steps, which run in reverse order. */
export class CleanupStack {
  readonly #steps: (() => void | Promise<void>)[] = []

  /** Adds a step that runs after all steps of `add`, even those that are added later. */
  addLast(step: () => void | Promise<void>): void {
    this.#steps.unshift(step)
  }

  add(step: () => void | Promise<void>): void {
    this.#steps.push(step)
  }

  /** Runs all steps, even if one fails, and then throws the first failure. */
  async all(): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps.reverse())
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    if (failures.length > 0) throw failures[0]
  }
}
