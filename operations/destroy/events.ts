import type { DestroyOutcome } from './outcome.ts'

/** The events of a destroy, besides the common ones. */
export type DestroyEvent =
  /** The destroy ends before it is done: its promise rejects. Has the number of deleted objects, and of all. */
  | {
      readonly type: 'destroy-stopped'
      readonly environment: string
      readonly namespace: string
      readonly named?: readonly string[]
      readonly deleted: number
      readonly planned: number
    }
  /** The environment, or one that the manifest depends on, is destroyed. */
  | { readonly type: 'destroyed'; readonly outcome: DestroyOutcome }
