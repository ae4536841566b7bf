import type { LoadInput } from '../../project/input.ts'

export interface DestroyInput extends LoadInput {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
  /** Services to destroy. If absent or empty, the full environment. */
  readonly services?: readonly string[] | undefined
  /** True to delete the PersistentVolumeClaims and their data, too. */
  readonly volumes?: boolean | undefined
  /** True to delete the PersistentVolumeClaims and destroy the dependencies, too. */
  readonly all?: boolean | undefined
  /** True to destroy the repositories that the manifest depends on, too. */
  readonly dependencies?: boolean | undefined
  /** True to answer all confirmations with yes, without a prompt. */
  readonly yes?: boolean | undefined
  /** True to wait until all objects are deleted. */
  readonly wait?: boolean | undefined
  /** True to run commands with bash (default), false for `sh`. */
  readonly bash?: boolean | undefined
  /** Variables with the precedence of environment variables; the workspace contains them, too. */
  readonly var?: Readonly<Record<string, string>> | undefined
}
