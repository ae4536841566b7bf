import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'

/** Exit status that a shell reports for a program whose output is no longer read (SIGPIPE). */
export const BROKEN_PIPE = 141

/** Options for running a program on this machine. */
export interface LocalRun {
  /** Absolute path of the working directory. */
  readonly folder: string
  /** All of them: nothing is added. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** The terminal, or the streams, that a command in the container is connected with. */
export interface RemoteTerminal {
  /** The size of the terminal; undefined where input or output is none. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined
  /** The terminal's type, for `TERM`. */
  readonly type: string | undefined
  /** Connects a process until it ends; gives its exit status. Rejects as `exit` does. */
  attach(process: ExecProcess): Promise<number>
  /**
   * Throws away what is typed on a terminal until the next process is attached. The returned function
   * stops reading it.
   */
  ignoreKeys(): () => void
  /** Runs a program of this machine with the terminal; gives its exit status. It ends with the signal. */
  runHere(command: readonly string[], options: LocalRun): Promise<number>
}
