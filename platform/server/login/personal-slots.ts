import { Slots } from '../../../adapters/http/slots.ts'

interface Line {
  readonly slots: Slots
  /** Tasks that run or wait. */
  tasks: number
}

/** Slots of each person: tasks of one person wait for each other, and not for those of other people. */
export class PersonalSlots {
  readonly #ofOne: number
  readonly #lines = new Map<string, Line>()

  constructor(ofOne: number) {
    this.#ofOne = ofOne
  }

  /** Runs a task in a slot of a person. Rejects with the signal's reason if it is aborted before there is one. */
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
