import type { Drift } from '../environment/drift.ts'

/** What a person may be asked while an operation works. */
export interface Questions {
  /** Whether a namespace that is not there is to be made; `cluster` is its name. */
  readonly mayCreateNamespace?: (namespace: string, cluster: string) => Promise<boolean>
  /** Whether what was changed by hand is to be overwritten. */
  readonly mayOverwrite?: (drift: readonly Drift[]) => Promise<boolean>
}
