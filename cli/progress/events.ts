import type { WorkloadStatus } from '../../environment/status.ts'

/** Shows what happens. */
export interface Progress {
  tell(event: ProgressEvent): void
  /** Ends the showing, so that something else can be printed. What is told later begins anew. */
  pause(): void
}

/** What happens while a command works, for people and for programs. */
export type ProgressEvent =
  /** A part of the work is over. */
  | { readonly type: 'step'; readonly step: string; readonly text: string }
  /** Work on a service. */
  | { readonly type: 'waiting'; readonly service: string; readonly for: readonly string[] }
  | {
      readonly type: 'status'
      readonly service: string
      readonly state: WorkloadStatus['state']
      readonly text: string
    }
  /** An object was written or deleted. */
  | { readonly type: 'object'; readonly action: 'create' | 'update' | 'replace' | 'delete'; readonly object: string }
  /** A line that a command of the manifest has printed. */
  | { readonly type: 'output'; readonly command: string; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly type: 'note'; readonly text: string }
