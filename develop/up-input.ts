import type { KubeObject } from '../adapters/kubernetes/cluster.ts'
import type { DeployOutcome } from '../operations/deploy/outcome.ts'
import type { Tolerance } from '../project/tolerance.ts'
import type { DevelopContext } from './context.ts'
import type { RemoteTerminal } from './exec/remote-terminal.ts'
import type { DevelopmentInput } from './select/find-development.ts'

export interface UpInput extends DevelopmentInput, Tolerance {
  /** Variables as `NAME=VALUE`, or as `NAME` for the value on this machine. */
  readonly env?: readonly string[] | undefined
  /** True to run the deploy section even if the application exists. */
  readonly deploy?: boolean | undefined
  /** True to create the namespace if it does not exist. */
  readonly createNamespace?: boolean | undefined
  /** True to discard the contents of the volume. */
  readonly reset?: boolean | undefined
  /** Command that replaces the manifest's command. */
  readonly command?: readonly string[] | undefined
  /** True to restore the original application at the end of the session. */
  readonly downOnExit?: boolean | undefined
  /** True to end the session of another user or machine. */
  readonly takeOver?: boolean | undefined
  /**
   * True if process 1 of the container runs the command. The session then lasts until it is ended by the user or by
   * `down`.
   */
  readonly detached?: boolean | undefined
  /** True to change nothing and only return the mirror's objects. */
  readonly dryRun?: boolean | undefined
}

export interface UpContext extends DevelopContext {
  readonly terminal: RemoteTerminal
}

export type UpOutcome =
  /** The command in the container has ended. */
  | { readonly kind: 'ended'; readonly status: number; readonly dev: string; readonly isDown: boolean }
  /** Result of a dry run: the objects that would be applied. */
  | { readonly kind: 'planned'; readonly objects: readonly KubeObject[] }
  /** The application was not deployed; the caller must print the outcome. */
  | { readonly kind: 'not-deployed'; readonly outcome: DeployOutcome }
  /** The session was ended by `down`, or taken over by another session. */
  | { readonly kind: 'stopped'; readonly dev: string; readonly reason: string }
