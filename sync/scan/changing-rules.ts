import { IGNORE_FILE } from '../ignore/default-ignores.ts'
import type { IgnoreRules } from '../ignore/ignore.ts'
import type { IgnoreSource } from './ignore-source.ts'

/** Ignore rules of a folder, which change when the files that they were read from change. */
export class ChangingRules implements IgnoreRules {
  #source: IgnoreSource
  /** Files that the ignore file includes, relative to the folder. */
  includes: ReadonlySet<string> = new Set()
  #rules: IgnoreRules
  readonly #toRules: (source: IgnoreSource) => IgnoreRules

  constructor(source: IgnoreSource, toRules: (source: IgnoreSource) => IgnoreRules) {
    this.#toRules = toRules
    this.#source = source
    this.includes = new Set(Object.keys(source.includes))
    this.#rules = toRules(source)
  }

  get source(): IgnoreSource {
    return this.#source
  }

  set source(source: IgnoreSource) {
    this.#source = source
    this.includes = new Set(Object.keys(source.includes))
    this.#rules = this.#toRules(source)
  }

  /** Returns true if the rules come from this file, or will come from it once the file exists. */
  areFrom(path: string): boolean {
    return path === IGNORE_FILE || this.includes.has(path)
  }

  /** Returns true if neither the path nor anything below it is synchronized. */
  leavesOut(path: string, isFolder: boolean): boolean {
    return this.#rules.ignores(path, isFolder) && !(isFolder && this.#rules.mayHoldIncluded(path))
  }

  ignores(path: string, isFolder: boolean): boolean {
    return this.#rules.ignores(path, isFolder)
  }

  mayHoldIncluded(folder: string): boolean {
    return this.#rules.mayHoldIncluded(folder)
  }

  deletable(path: string): boolean {
    return this.#rules.deletable(path)
  }
}
