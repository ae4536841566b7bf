import type { DestroyOutcome } from './outcome.ts'

/** Events of a destroy, in addition to the common events. */
export type DestroyEvent =
  /**
   * The destroy ends early: its promise rejects. `deleted` is the number of deleted objects, and `planned` is the
   * number of all objects to delete.
   */
  | {
      readonly type: 'destroy-stopped'
      readonly environment: string
      readonly namespace: string
      readonly named?: readonly string[]
      readonly deleted: number
      readonly planned: number
    }
  /** The environment, or an environment that the manifest depends on, was destroyed. */
  | { readonly type: 'destroyed'; readonly outcome: DestroyOutcome }
