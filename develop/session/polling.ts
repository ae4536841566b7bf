import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Variables by which widespread watchers of files poll: chokidar and webpack. */
const VARIABLES = ['CHOKIDAR_USEPOLLING=1', 'WATCHPACK_POLLING=true']

/**
 * Whether the programs of a development container are told to poll for changes of files, since they
 * hear of none. It is remembered in the folder of the session, for `devctl exec` and the next `up`.
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

  /** What each command gets: `NAME=value`. */
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
