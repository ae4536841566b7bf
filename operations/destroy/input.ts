import type { LoadInput } from '../../project/input.ts'

export interface DestroyInput extends LoadInput {
  /** The environment; absent: the one that the files have. */
  readonly name?: string | undefined
  /** Only these services; absent or empty: the whole environment. */
  readonly services?: readonly string[] | undefined
  /** True if the claims and their data go, too. */
  readonly volumes?: boolean | undefined
  /** The claims, and the repositories that the manifest depends on, too. */
  readonly all?: boolean | undefined
  /** True if the repositories that the manifest depends on go, too. */
  readonly dependencies?: boolean | undefined
  /** True to ask no questions, and answer all with yes. */
  readonly yes?: boolean | undefined
  /** True to wait until everything has been deleted. */
  readonly wait?: boolean | undefined
  /** True if commands run with bash (default), false for `sh`. */
  readonly bash?: boolean | undefined
  /** Variables that count like those of the process; they are in the workspace's, too. */
  readonly var?: Readonly<Record<string, string>> | undefined
}
