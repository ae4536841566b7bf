import type { Drift } from '../environment/plan/drift.ts'

/** The questions that an operation can ask the user. */
export interface Questions {
  /** True if a missing namespace is to be created; `cluster` is the cluster's name. */
  readonly mayCreateNamespace?: (namespace: string, cluster: string) => Promise<boolean>
  /** True if manual changes are to be overwritten. */
  readonly mayOverwrite?: (drift: readonly Drift[]) => Promise<boolean>
  /** True if an environment is to be deleted with its data and its dependencies. */
  readonly mayDestroyAll?: (environment: string, namespace: string) => Promise<boolean>
  /** True if cluster-scoped objects, named as by kubectl, are to be deleted, too. */
  readonly mayDeleteOfCluster?: (names: readonly string[]) => Promise<boolean>
  /** True if `services` are to be deleted although others depend on them, as `why` says. */
  readonly mayDestroyNeeded?: (services: readonly string[], why: string) => Promise<boolean>
}
