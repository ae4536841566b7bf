import type { Drift } from '../environment/plan/drift.ts'

/** Questions that an operation can ask the user. */
export interface Questions {
  /** Returns true if a missing namespace should be created; `cluster` is the cluster's name. */
  readonly mayCreateNamespace?: (namespace: string, cluster: string) => Promise<boolean>
  /** Returns true if manual changes should be overwritten. */
  readonly mayOverwrite?: (drift: readonly Drift[]) => Promise<boolean>
  /** Returns true if an environment should be deleted with its data and its dependencies. */
  readonly mayDestroyAll?: (environment: string, namespace: string) => Promise<boolean>
  /** Returns true if cluster-scoped objects, named in kubectl notation, should be deleted, too. */
  readonly mayDeleteOfCluster?: (names: readonly string[]) => Promise<boolean>
  /** Returns true if `services` should be deleted although other services depend on them, as `why` explains. */
  readonly mayDestroyNeeded?: (services: readonly string[], why: string) => Promise<boolean>
}
