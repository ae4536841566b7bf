import { Slots } from '../../../adapters/http/slots.ts'

interface Line {
  readonly slots: Slots
  /** Number of tasks that are running or waiting. */
  tasks: number
}

/**
 * Gives each user the same number of slots. Tasks of one user wait for each other if there are more tasks than slots,
 * but not for tasks of other users.
 */
export class PersonalSlots {
  readonly #ofOne: number
  readonly #lines = new Map<string, Line>()

  constructor(ofOne: number) {
    this.#ofOne = ofOne
  }

  /**
   * Runs a task in a slot of a user. Rejects with the signal's abort reason if the signal is aborted before a slot is
   * free.
   */
  async run<T>(person: string, signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(person) ?? { slots: new Slots(this.#ofOne), tasks: 0 }
    this.#lines.set(person, line)
    line.tasks++
    try {
      return await line.slots.run(signal, task)
    } finally {
      if (--line.tasks === 0) this.#lines.delete(person)
    }
  }
}
