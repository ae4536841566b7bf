/** Work of the leader that does not succeed. */
export interface TaskFailure {
  /** `expired tokens`. */
  readonly task: string
  /** Of the last time. */
  readonly message: string
  /** How often it has failed since it last succeeded. */
  readonly times: number
}

/** Characters of a message. */
const LONGEST = 300

/** What of the leader's work fails now: known to the replica that leads, and empty on others. */
export class TaskFailures {
  readonly #all = new Map<string, TaskFailure>()

  failed(task: string, message: string, times: number): void {
    this.#all.set(task, { task, message: message.slice(0, LONGEST), times })
  }

  succeeded(task: string): void {
    this.#all.delete(task)
  }

  /** Another replica leads. */
  clear(): void {
    this.#all.clear()
  }

  all(): readonly TaskFailure[] {
    return [...this.#all.values()]
  }
}
