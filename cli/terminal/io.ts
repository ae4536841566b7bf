import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { RawStreams } from './remote-terminal.ts'

/**
 * Parts of the process that a command may use. `processIo` creates the object for this process; tests create other
 * objects.
 */
export interface Io {
  /** Standard output, for results. */
  readonly stdout: Output
  /** Standard output for the output of programs in containers; present if `stdout` prints nothing (`--quiet`). */
  readonly programOutput?: Output
  /** Standard error, for progress, diagnostics and prompts. */
  readonly stderr: Output
  /** Returns the full standard input; reads it on the first call. */
  readonly readStdin: () => Promise<Uint8Array>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path of the current working directory. Throws a UserError if it has been deleted. */
  readonly cwd: string
  /** Known secrets, which are removed from all output (redacting.ts). */
  readonly secrets?: KnownSecrets
  /** Names of the variables set by `--var`, which are also in `env`. */
  readonly givenVariables?: ReadonlySet<string>
  /** Variables of the target platform, which are not in `env`. */
  readonly platformVariables?: ReadonlyMap<string, string>
  /** Receives the URL of the platform that the command works on. */
  readonly onPlatform?: (url: string) => void
  /**
   * Starts this program again in the background with other arguments, without waiting for it. Absent if no process can
   * outlive this one.
   */
  readonly startAgain?: (words: readonly string[], env: Readonly<Record<string, string>>) => Promise<void>
  /** Asks the user at the terminal to choose. Absent if there is no user at a terminal. */
  readonly choose?: Choose
  /** Returns the standard streams as bytes, for a program that runs in a container. Absent if this process has none. */
  readonly rawStreams?: () => RawStreams
  /** Asks the user at the terminal to type a line; present if `choose` is. */
  readonly ask?: AskForText
  /** Asks the user at the terminal to type a value that is not shown; present if `choose` is. */
  readonly askHidden?: AskForText
}

/**
 * Asks the user to type an answer. Returns undefined if the user cancels (Ctrl-C). If the signal is aborted, the
 * question ends, and the promise is rejected with the signal's reason.
 */
export type AskForText = (question: string, signal?: AbortSignal) => Promise<string | undefined>

/**
 * Asks the user to choose from a list. Returns undefined if the user cancels without an answer (Ctrl-C). If the signal
 * is aborted, the question is removed from the terminal, and the result is also undefined.
 */
export type Choose = (
  question: string,
  answers: readonly PromptAnswer[],
  signal?: AbortSignal,
) => Promise<string | undefined>

/** Asks a yes/no question; canceling counts as no. */
export const isAgreed = async (choose: Choose, question: string): Promise<boolean> =>
  (await choose(question, [{ value: 'no' }, { value: 'yes' }])) === 'yes'

export interface PromptAnswer {
  readonly value: string
  /** Text to show; defaults to the value. */
  readonly label?: string
  /** True for the initially selected answer. */
  readonly isPreset?: boolean
  /** Reason why the answer is shown but cannot be chosen. */
  readonly disabled?: string
}

export interface Output {
  readonly write: (text: string) => void
  /**
   * Writes output without redaction: output that the user has requested, such as manifests, the model or the output of
   * programs. If absent, `write` is used. All other output uses `write`, which removes secrets and terminal control
   * sequences.
   */
  readonly writeAsIs?: (text: string) => void
  /**
   * Writes bytes that a program in a container printed, without redaction, and resolves once the stream has taken them
   * or is closed. If absent, `writeAsIs` is used.
   */
  readonly writeBytes?: (part: Uint8Array) => Promise<void>
  readonly isTTY: boolean
  /** True for the stream of messages, which no program reads. Logs of CI systems show it in colors. */
  readonly isForMessages?: boolean
  /** Width of the terminal in columns; undefined if it is unknown, or the stream is not a terminal. */
  readonly columns?: number | undefined
  /** Height of the terminal in rows; undefined if it is unknown, or the stream is not a terminal. */
  readonly rows?: number | undefined
  /**
   * Resolves once the reader has received all output; rejects if writing fails or the reader has closed the stream. If
   * absent, output needs no waiting.
   */
  readonly flushed?: () => Promise<void>
}

/**
 * True if colors can be written to a stream: a terminal, or messages in the log of a CI system that shows colors.
 * Environment variables can override that, according to https://force-color.org, https://no-color.org and
 * https://bixense.com/clicolors.
 */
export function wantsColour(output: Output, env: Io['env']): boolean {
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  if (env.NO_COLOR) return false
  if (env.CLICOLOR_FORCE) return env.CLICOLOR_FORCE !== '0'
  if (env.CLICOLOR === '0') return false
  // Standard output may be read by a program: `devctl diff | grep`.
  if (env.GITHUB_ACTIONS === 'true' || env.GITLAB_CI === 'true') return output.isForMessages ?? false
  return output.isTTY && !env.CI && env.TERM !== 'dumb'
}

/** True if standard error is a terminal that can be drawn on, rather than the log of a pipeline. */
export const drawsOn = ({ stderr, env }: Pick<Io, 'stderr' | 'env'>): boolean =>
  stderr.isTTY && env.TERM !== 'dumb' && !env.CI
