import { inspect } from 'node:util'

/** Placeholder shown for a secret. */
export const PLACEHOLDER = '***'

/** Token or password. Prints as a placeholder in output, logs, inspection and JSON; only `reveal` returns the value. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return PLACEHOLDER
  }

  toJSON(): string {
    return PLACEHOLDER
  }

  [inspect.custom](): string {
    return PLACEHOLDER
  }
}
