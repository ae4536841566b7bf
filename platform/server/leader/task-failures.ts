/** A task of the leader that fails. */
export interface TaskFailure {
  /** `expired tokens`. */
  readonly task: string
  /** The last failure. */
  readonly message: string
  /** Consecutive failures. */
  readonly times: number
}

/** Characters of a message. */
const LONGEST = 300

/** The tasks of the leader that are failing: known to the replica that leads, and empty on others. */
export class TaskFailures {
  readonly #all = new Map<string, TaskFailure>()

  failed(task: string, message: string, times: number): void {
    this.#all.set(task, { task, message: message.slice(0, LONGEST), times })
  }

  succeeded(task: string): void {
    this.#all.delete(task)
  }

  /** Forgets all failures, because another replica is the leader. */
  clear(): void {
    this.#all.clear()
  }

  all(): readonly TaskFailure[] {
    return [...this.#all.values()]
  }
}
