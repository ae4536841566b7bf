import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { parseDotenv } from '../../compiler/text/dotenv.ts'
import { SourceFile } from '../../compiler/text/source.ts'

/** Maximum number of bytes: more than commands need to hand on, and few enough for the environment of a process. */
const LARGEST = 1 << 20

/**
 * The file that `DEVCTL_ENV` names: what a command writes to it as `NAME=value`, in the grammar of
 * a `.env` file, is in the environment of the commands after it. Only its user may read it. To be
 * removed at the end.
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
    // Also when the process ends in the midst of it.
    process.once('exit', this.#remove)
  }

  /** All variables that were handed on so far. */
  get values(): Readonly<Record<string, string>> {
    return { ...this.#values }
  }

  /**
   * Reads what a command has written. `env` is the environment it ran with, for variables in
   * values. Gives a sentence for each line that is not understood, which counts for nothing; values
   * are never in it.
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
      // A pipe would have us wait forever.
      if (!found.isFile()) return { problem: 'it is not a file anymore' }
      if (found.size > LARGEST) return { problem: `it has more than ${LARGEST} bytes` }
      return readFileSync(this.path, 'utf8')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException // node:fs throws nothing else
      return code === 'ENOENT' ? '' : { problem: `it cannot be read (${code})` }
    }
  }
}
