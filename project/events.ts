import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { WorkloadStatus } from '../environment/rollout/status.ts'

/** Events that any operation can emit. An operation can have further events of its own. */
export type CommonEvent =
  /** Part of the work that has finished. */
  | { readonly type: 'step'; readonly step: string; readonly text: string }
  /** Progress of a service. */
  | { readonly type: 'waiting'; readonly service: string; readonly for: readonly string[] }
  | {
      readonly type: 'status'
      readonly service: string
      readonly state: WorkloadStatus['state']
      readonly text: string
    }
  /** Object that was written or deleted. */
  | { readonly type: 'object'; readonly action: 'create' | 'update' | 'replace' | 'delete'; readonly object: string }
  /** Line that a command of the manifest has printed. */
  | { readonly type: 'output'; readonly command: string; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly type: 'note'; readonly text: string }
  /** Choice that devctl made, and the setting that decided it; printed with `--log-level info`. */
  | { readonly type: 'choice'; readonly text: string }
  /** Problem that does not stop the work. */
  | { readonly type: 'warning'; readonly text: string; readonly hint?: string }
  /**
   * Errors in the files, Compose keys that are lost in the conversion, and services that fail to start. Each diagnostic
   * is reported once, as early as possible.
   */
  | {
      readonly type: 'diagnostics'
      readonly diagnostics: readonly Diagnostic[]
      /** Warnings that the last deploy of the environment has already reported. */
      readonly seen?: ReadonlySet<Diagnostic>
    }
