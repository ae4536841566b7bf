import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { WorkloadStatus } from '../environment/rollout/status.ts'

/** The events that any operation may emit; one with events of its own adds them to these. */
export type CommonEvent =
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
  /** A choice of devctl and the setting that decided it; printed with `--loglevel info`. */
  | { readonly type: 'choice'; readonly text: string }
  /** A problem that does not stop the work. */
  | { readonly type: 'warning'; readonly text: string; readonly hint?: string }
  /**
   * Errors in the files, keys that are lost, or services that do not start. Each is reported once, as early as
   * possible.
   */
  | {
      readonly type: 'diagnostics'
      readonly diagnostics: readonly Diagnostic[]
      /** The warnings among them that the last deploy of the environment has reported. */
      readonly seen?: ReadonlySet<Diagnostic>
    }
