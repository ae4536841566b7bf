import { LIMITS, parseLimits } from '../compiler/diagnostics/budget.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { KnownSecrets } from '../compiler/values/known-secrets.ts'

/** What a command may use of the process it runs in. Made once, in main.ts; tests make their own. */
export interface Io {
  /** For results. */
  readonly stdout: Output
  /** For progress, diagnostics and prompts. */
  readonly stderr: Output
  /** Everything on standard input; reads it on the first call. */
  readonly readStdin: () => Promise<Uint8Array>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path of the folder the process runs in. Throws a UserError when it has been removed. */
  readonly cwd: string
  /** What is known to be secret, and is taken out of all that is written (redacting.ts). */
  readonly secrets?: KnownSecrets
  /** The variables that `--var` has set; they are in `env`, too. */
  readonly givenVariables?: ReadonlySet<string>
  /** Asks the person at the terminal; absent where nobody sits there. */
  readonly choose?: Choose
  /** Has the person at the terminal type something that is not shown; there where `choose` is. Gives undefined when they leave (Ctrl-C). */
  readonly askHidden?: (question: string) => Promise<string | undefined>
}

/** Lets a person choose one of a list; gives undefined when they leave without an answer (Ctrl-C). */
export type Choose = (question: string, answers: readonly Answer[]) => Promise<string | undefined>

export interface Answer {
  readonly value: string
  /** How it is shown; default the value. */
  readonly label?: string
  /** It is where the choice begins. */
  readonly isPreset?: boolean
  /** Why it cannot be taken; it is shown all the same. */
  readonly disabled?: string
}

export interface Output {
  readonly write: (text: string) => void
  /**
   * Writes as it is what the user has asked for itself: manifests, the model, what programs print. Absent: as `write`. All else goes through
   * `write`, which takes out secrets and what a terminal would obey.
   */
  readonly writeAsIs?: (text: string) => void
  readonly isTTY: boolean
  /** Width of the terminal in columns; undefined when it is none. */
  readonly columns?: number
  /** Height of the terminal in rows; undefined when it is none. */
  readonly rows?: number
  /** Resolves when all that was written has gone to whoever reads it; rejects when that fails, or nobody reads any more. Absent: at once. */
  readonly flushed?: () => Promise<void>
}

/** Whether escape sequences for colours are welcome on a stream: on a terminal, unless NO_COLOR or CI is set; FORCE_COLOR decides where it is set. */
export function wantsColour(output: Output, env: Io['env']): boolean {
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  return output.isTTY && !env.NO_COLOR && !env.CI && env.TERM !== 'dumb'
}

/** The Io of this process. */
export function processIo(): Io {
  const { stdin, stderr, env } = process
  const choose: Choose = async (question, answers) => {
    const { chooseOne } = await import('./prompt.ts')
    return chooseOne({ input: stdin, output: stderr }, question, answers)
  }
  const askHidden = async (question: string) => {
    const { typeHidden } = await import('./prompt.ts')
    return typeHidden({ input: stdin, output: stderr }, question)
  }
  return {
    // Who wants no colours wants no prompts (decisions section 2).
    ...(stdin.isTTY && wantsColour(toOutput(stderr), env) && { choose, askHidden }),
    stdout: toOutput(process.stdout),
    stderr: toOutput(process.stderr),
    readStdin,
    env: process.env,
    get cwd() {
      return currentFolder()
    },
  }
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new UserError('the folder that devctl runs in is not there any more', { hint: 'go to another one', cause })
  }
}

function toOutput(stream: NodeJS.WriteStream): Output {
  return {
    write: text => {
      stream.write(text)
    },
    flushed: () => new Promise((resolve, reject) => stream.write('', error => (error ? reject(error) : resolve()))),
    get isTTY() {
      return stream.isTTY ?? false
    },
    get columns() {
      return stream.columns
    },
    get rows() {
      return stream.rows
    },
  }
}

async function readStdin(): Promise<Uint8Array> {
  const most = parseLimits(process.env.DEVCTL_LIMITS ?? '').limits.bytes ?? LIMITS.bytes.most
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk)
    length += chunk.length
    if (length > most)
      throw new UserError(`standard input has more than ${most.toLocaleString('en')} bytes`, {
        hint: 'if that is right, raise the limit: `DEVCTL_LIMITS=bytes=NUMBER`',
      })
  }
  return Buffer.concat(chunks)
}
