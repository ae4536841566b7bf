/** A failing task of the leader. */
export interface TaskFailure {
  /** Name of the task, such as `expired tokens`. */
  readonly task: string
  /** Message of the last failure. */
  readonly message: string
  /** Number of consecutive failures. */
  readonly times: number
}

/** Maximum length of a message in characters. */
const LONGEST = 300

/** The failing tasks of the leader. Only the replica that leads knows them; on other replicas, the list is empty. */
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
