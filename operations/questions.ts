import type { Drift } from './objects/drift.ts'

/** What a person may be asked while an operation works. */
export interface Questions {
  /** Whether a namespace that is not there is to be made; `cluster` is its name. */
  readonly mayCreateNamespace?: (namespace: string, cluster: string) => Promise<boolean>
  /** Whether what was changed by hand is to be overwritten. */
  readonly mayOverwrite?: (drift: readonly Drift[]) => Promise<boolean>
  /** Whether an environment goes with its data and what it depends on. */
  readonly mayDestroyAll?: (environment: string, namespace: string) => Promise<boolean>
  /** Whether objects of the whole cluster, named as kubectl does, are deleted, too. */
  readonly mayDeleteOfCluster?: (names: readonly string[]) => Promise<boolean>
  /** Whether `services` go although others depend on them, which `why` says. */
  readonly mayDestroyNeeded?: (services: readonly string[], why: string) => Promise<boolean>
}
