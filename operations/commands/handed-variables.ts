import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { parseDotenv } from '../../compiler/text/dotenv.ts'
import { SourceFile } from '../../compiler/text/source.ts'

/**
 * Maximum size of the file in bytes: more than commands need to pass on, and small enough for the environment of a
 * process.
 */
const LARGEST = 1 << 20

/**
 * File that `DEVCTL_ENV` names. Lines `NAME=value` (`.env` syntax) that a command writes to the file become variables
 * of the commands after it. The file is readable only by its owner. Call `remove` at the end.
 */
export class HandedVariables {
  readonly path: string
  readonly #folder: string
  readonly #values: Record<string, string> = {}
  readonly #remove = () => rmSync(this.#folder, { recursive: true, force: true })

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'devctl-env-'))
    this.path = join(this.#folder, '.env')
    writeFileSync(this.path, '', { mode: 0o600 })
    // Also removes the file if the process exits early.
    process.once('exit', this.#remove)
  }

  /** All variables that commands have passed on so far. */
  get values(): Readonly<Record<string, string>> {
    return { ...this.#values }
  }

  /**
   * Reads the variables that a command has written. `env` is the environment that the command ran with, for variables
   * in values. Returns a message for each line that is not understood and therefore ignored; the messages never contain
   * values.
   */
  read(env: Readonly<Record<string, string | undefined>>): readonly string[] {
    const text = this.#text()
    if (typeof text !== 'string') return [text.problem]
    const file = new SourceFile('DEVCTL_ENV', text)
    const reporter = new Reporter()
    for (const { name, value } of parseDotenv(file, name => env[name], reporter))
      if (value.includes('\0')) return [`the value of \`${name}\` has a NUL byte`]
      else this.#values[name] = value
    return reporter
      .diagnostics()
      .map(({ message, span }) => `line ${span ? file.position(span.start).line : 1}: ${message}`)
  }

  remove(): void {
    process.removeListener('exit', this.#remove)
    this.#remove()
  }

  #text(): string | { readonly problem: string } {
    try {
      const found = lstatSync(this.path)
      // Reading a pipe would block forever.
      if (!found.isFile()) return { problem: 'it is not a file anymore' }
      if (found.size > LARGEST) return { problem: `it has more than ${LARGEST} bytes` }
      return readFileSync(this.path, 'utf8')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
      return code === 'ENOENT' ? '' : { problem: `it cannot be read (${code})` }
    }
  }
}
