import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Variables that make common file watchers, chokidar and webpack, use polling. */
const VARIABLES = ['CHOKIDAR_USEPOLLING=1', 'WATCHPACK_POLLING=true']

/**
 * Remembers whether the programs of a development container must poll for file changes because they receive no events.
 * Stores this fact in the session folder, for `devctl exec` and the next `up`.
 */
export class Polling {
  readonly #file: string
  #isNeeded: boolean

  constructor(folder: string) {
    this.#file = join(folder, 'polling')
    this.#isNeeded = existsSync(this.#file)
  }

  get isNeeded(): boolean {
    return this.#isNeeded
  }

  /** Returns the variables that every command gets, as `NAME=value`; empty if programs need no polling. */
  get variables(): readonly string[] {
    return this.#isNeeded ? VARIABLES : []
  }

  set(isNeeded: boolean): void {
    this.#isNeeded = isNeeded
    if (!isNeeded) rmSync(this.#file, { force: true })
    else {
      mkdirSync(join(this.#file, '..'), { recursive: true })
      writeFileSync(this.#file, '')
    }
  }
}
