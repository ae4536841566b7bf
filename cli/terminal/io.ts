import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { RawStreams } from './remote-terminal.ts'

/** The parts of its process that a command may use. Made once, in main.ts; tests make their own. */
export interface Io {
  /** Output for results. */
  readonly stdout: Output
  /** Output for progress, diagnostics and prompts. */
  readonly stderr: Output
  /** Everything on standard input; reads it on the first call. */
  readonly readStdin: () => Promise<Uint8Array>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path of the folder the process runs in. Throws a UserError when it has been removed. */
  readonly cwd: string
  /** The known secrets, which are removed from all output (redacting.ts). */
  readonly secrets?: KnownSecrets
  /** The variables that `--var` has set; they are in `env`, too. */
  readonly givenVariables?: ReadonlySet<string>
  /** The variables of the platform that is deployed to; they are not in `env`. */
  readonly platformVariables?: ReadonlyMap<string, string>
  /** Receives the URL of the platform that the command works on. */
  readonly onPlatform?: (url: string) => void
  /**
   * Starts this program with other arguments in the background, without waiting for it; absent if no process can
   * outlive this one.
   */
  readonly startAgain?: (words: readonly string[], env: Readonly<Record<string, string>>) => Promise<void>
  /** Asks the user at the terminal; absent without a user at a terminal. */
  readonly choose?: Choose
  /** The standard streams as bytes, for a program that runs in a container; absent where this process has none. */
  readonly rawStreams?: () => RawStreams
  /** Has the person at the terminal type a line; there where `choose` is. Gives undefined when they leave (Ctrl-C). */
  readonly ask?: (question: string) => Promise<string | undefined>
  /**
   * Has the person at the terminal type something that is not shown; there where `choose` is. Gives undefined when they
   * leave (Ctrl-C).
   */
  readonly askHidden?: (question: string) => Promise<string | undefined>
}

/**
 * Lets a person choose one of a list; gives undefined when they leave without an answer (Ctrl-C). A question whose
 * signal is aborted is taken off the terminal, and gives undefined, too.
 */
export type Choose = (
  question: string,
  answers: readonly PromptAnswer[],
  signal?: AbortSignal,
) => Promise<string | undefined>

/** Asks a question of yes and no; leaving without an answer is a no. */
export const isAgreed = async (choose: Choose, question: string): Promise<boolean> =>
  (await choose(question, [{ value: 'no' }, { value: 'yes' }])) === 'yes'

export interface PromptAnswer {
  readonly value: string
  /** Text to show; default the value. */
  readonly label?: string
  /** True for the answer that is selected first. */
  readonly isPreset?: boolean
  /** Reason why it cannot be chosen; it is shown anyway. */
  readonly disabled?: string
}

export interface Output {
  readonly write: (text: string) => void
  /**
   * Writes unchanged the output that the user has asked for: manifests, the model, the output of programs. Absent: as
   * `write`. All other output uses `write`, which removes secrets and terminal control sequences.
   */
  readonly writeAsIs?: (text: string) => void
  readonly isTTY: boolean
  /** Width of the terminal in columns; undefined when it is none. */
  readonly columns?: number
  /** Height of the terminal in rows; undefined when it is none. */
  readonly rows?: number
  /**
   * Resolves when all output has reached its reader; rejects if that fails, or the reader has closed the output.
   * Absent: at once.
   */
  readonly flushed?: () => Promise<void>
}

/**
 * True if a stream takes escape sequences for colours: on a terminal, unless NO_COLOR or CI is set;
 * FORCE_COLOR takes precedence.
 */
export function wantsColour(output: Output, env: Io['env']): boolean {
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  return output.isTTY && !env.NO_COLOR && !env.CI && env.TERM !== 'dumb'
}

/** True if standard error is a terminal that can be drawn on, and not the log of a pipeline. */
export const drawsOn = ({ stderr, env }: Pick<Io, 'stderr' | 'env'>): boolean =>
  stderr.isTTY && env.TERM !== 'dumb' && !env.CI
