import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'

/** The terminal, or the streams, that a command in the container is connected with. */
export interface RemoteTerminal {
  /** The size of the terminal; undefined where input or output is none. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined
  /** The terminal's type, for `TERM`. */
  readonly type: string | undefined
  /** Connects a process until it ends; gives its exit status. Rejects as `exit` does. */
  attach(process: ExecProcess): Promise<number>
}
