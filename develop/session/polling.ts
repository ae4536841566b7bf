import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Variables by which widespread watchers of files poll: chokidar and webpack. */
const VARIABLES = ['CHOKIDAR_USEPOLLING=1', 'WATCHPACK_POLLING=true']

/**
 * Remembers that the programs of a development container have to poll for changed files, because they receive no
 * events. The folder of the session stores it, for `devctl exec` and the next `up`.
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

  /** Variables for each command: `NAME=value`. */
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
