import type { KubeObject } from '../adapters/kubernetes/cluster.ts'
import type { DeployOutcome } from '../operations/deploy/outcome.ts'
import type { Tolerance } from '../project/tolerance.ts'
import type { DevelopContext } from './context.ts'
import type { RemoteTerminal } from './exec/remote-terminal.ts'
import type { DevelopmentInput } from './select/find-development.ts'

export interface UpInput extends DevelopmentInput, Tolerance {
  /** Variables as `NAME=VALUE`, or `NAME` for the value on this machine. */
  readonly env?: readonly string[] | undefined
  /** True if the deploy section runs even if the application exists. */
  readonly deploy?: boolean | undefined
  /** True if the namespace is created where it does not exist. */
  readonly createNamespace?: boolean | undefined
  /** True if what is in the volume is discarded. */
  readonly reset?: boolean | undefined
  /** Command in place of the manifest's. */
  readonly command?: readonly string[] | undefined
  /** True if the original is restored at the end. */
  readonly downOnExit?: boolean | undefined
  /** True if the session of another user or machine is ended. */
  readonly takeOver?: boolean | undefined
  /** True if the container runs its command by itself, and the session lasts until it is ended. */
  readonly detached?: boolean | undefined
  /** True if nothing is changed, and the mirror is only given. */
  readonly dryRun?: boolean | undefined
}

export interface UpContext extends DevelopContext {
  readonly terminal: RemoteTerminal
}

export type UpOutcome =
  /** The command in the container has ended. */
  | { readonly kind: 'ended'; readonly status: number; readonly dev: string; readonly isDown: boolean }
  /** Objects that would be applied. */
  | { readonly kind: 'planned'; readonly objects: readonly KubeObject[] }
  /** The application was not deployed; the outcome was not printed yet. */
  | { readonly kind: 'not-deployed'; readonly outcome: DeployOutcome }
  /** `down` was called for it, or another session has taken it over. */
  | { readonly kind: 'stopped'; readonly dev: string; readonly reason: string }
