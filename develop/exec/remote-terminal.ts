import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'

/** Exit status that a shell reports for a program whose output is no longer read (SIGPIPE). */
export const BROKEN_PIPE = 141

/** Options for running a program on this machine. */
export interface LocalRun {
  /** Absolute path of the working directory. */
  readonly folder: string
  /** Full environment of the program: no other variables are added. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** The terminal or the streams that a command in the container is connected to. */
export interface RemoteTerminal {
  /** Size of the terminal; undefined if input or output is not a terminal. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined
  /** Type of the terminal, for `TERM`. */
  readonly type: string | undefined
  /** Connects a process until it ends, and returns its exit status. Rejects if `exit` of the process rejects. */
  attach(process: ExecProcess): Promise<number>
  /** Discards terminal input until the next process is attached. The returned function stops reading the terminal. */
  ignoreKeys(): () => void
  /**
   * Runs a program on this machine with the terminal and returns its exit status. Ends the program if `signal` of the
   * options is aborted.
   */
  runHere(command: readonly string[], options: LocalRun): Promise<number>
}
