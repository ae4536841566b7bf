import { inspect } from 'node:util'

/** The placeholder shown for a secret. */
export const PLACEHOLDER = '***'

/**
 * A token or a password. Printed, logged, inspected or written as JSON it is a placeholder; only
 * `reveal` gives the value.
 */
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
