import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '../adapters/files/temporary-folder.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import { parseDotenv } from '../compiler/text/dotenv.ts'
import { SourceFile, type Span } from '../compiler/text/source.ts'

/**
 * Maximum size of the file in bytes: more than commands need to pass on, and small enough for the environment of a
 * process.
 */
const LARGEST = 1 << 20
/** Maximum size of a variable in bytes on Linux: `NAME=value` with a NUL byte at its end. */
const LARGEST_VARIABLE = 128 << 10

/**
 * File that `DEVCTL_ENV` names. Lines `NAME=value` (`.env` syntax) that a command writes to the file become variables
 * of the commands after it. The file is readable only by its owner. Call `remove` at the end.
 */
export class HandedVariables {
  readonly path: string
  readonly #folder: string
  readonly #values: Record<string, string> = {}
  /** Content of the file after the last command. */
  #known = ''
  #problem: string | undefined
  readonly #remove = () => rmSync(this.#folder, { recursive: true, force: true })

  constructor() {
    this.#folder = makeTemporaryFolder('devctl-env-')
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
   * Reads the variables that a command has written. Skips the lines of earlier commands, because a line such as
   * `LIST=$LIST,x` must not be evaluated again. `env` is the environment that the command ran with, for variables in
   * values. Returns a message for each line that is not understood and therefore ignored; the messages never contain
   * values.
   */
  read(env: Readonly<Record<string, string | undefined>>): readonly string[] {
    const text = this.#text()
    const known = this.#problem
    this.#problem = typeof text === 'string' ? undefined : text.problem
    if (typeof text !== 'string') return text.problem === known ? [] : [text.problem]
    const start = this.#startOfNew(text)
    this.#known = text
    return this.#parse(text.slice(start), env, text.slice(0, start).split('\n').length)
  }

  /** Returns the start of the lines that the last command has written, or that it has continued. */
  #startOfNew(text: string): number {
    if (text === this.#known) return text.length
    return text.startsWith(this.#known) ? this.#known.lastIndexOf('\n') + 1 : 0
  }

  /** Reads the variables of a text, whose first line has the number `first`. Returns the messages. */
  #parse(text: string, env: Readonly<Record<string, string | undefined>>, first: number): readonly string[] {
    const file = new SourceFile('DEVCTL_ENV', text)
    const reporter = new Reporter()
    const problems: string[] = []
    for (const { name, value } of parseDotenv(file, name => env[name], reporter)) {
      const problem = problemOf(name, value)
      if (problem === undefined) this.#values[name] = value
      else problems.push(`the value of \`${name}\` has ${problem}`)
    }
    const line = (span: Span | undefined) => first - 1 + (span ? file.position(span.start).line : 1)
    return [...problems, ...reporter.diagnostics().map(({ message, span }) => `line ${line(span)}: ${message}`)]
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

/** Returns the reason why an environment cannot contain a variable, as the object of "has"; undefined if it can. */
function problemOf(name: string, value: string): string | undefined {
  if (value.includes('\0')) return 'a NUL byte'
  const size = Buffer.byteLength(`${name}=${value}\0`)
  return size > LARGEST_VARIABLE ? 'more than 128 KiB, which no variable can hold' : undefined
}
