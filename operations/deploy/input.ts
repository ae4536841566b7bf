import type { LoadInput, PlanInput } from '../../project/input.ts'
import type { Tolerance } from '../../project/tolerance.ts'

/**
 * The common input of `deploy` and `diff`: what is compiled for a cluster, and what may be done for
 * it.
 */
export interface ForCluster extends LoadInput, Omit<PlanInput, 'includeSecrets'> {
  /** Only these services and what they depend on; absent or empty: all. */
  readonly services?: readonly string[] | undefined
  /**
   * True if the images of all services with `build` are made; absent: of those that are in no
   * registry.
   */
  readonly build?: boolean | undefined
  /** True to adopt existing objects without an owner. */
  readonly adopt?: boolean | undefined
  /** True if fields that another tool applies are taken over. */
  readonly forceConflicts?: boolean | undefined
  /** True to deploy even if the environment was deployed from another repository or file. */
  readonly takeOver?: boolean | undefined
  /** Number of workloads that may be deleted because they were removed from the files; default 3, or 30 %. */
  readonly pruneLimit?: number | undefined
  /** True if the cluster pulls with the credentials of the user's Docker configuration. */
  readonly registryCredentials?: boolean | undefined
  /** Services whose Jobs run again although nothing changed. */
  readonly rerun?: readonly string[] | undefined
  /**
   * Services that `up` deploys and replaces at once: nothing is reported about copies of their host volumes, nor about
   * public addresses without a domain.
   */
  readonly developed?: readonly string[] | undefined
  /** Variables that count like those of the process; they are in the workspace's, too. */
  readonly var?: Readonly<Record<string, string>> | undefined
}

export interface DeployInput extends ForCluster, Tolerance {
  /**
   * True if the deploy waits until every workload is ready; else only for what others depend on.
   */
  readonly wait?: boolean | undefined
  /** True if repositories that the manifest depends on are deployed although they are deployed. */
  readonly dependencies?: boolean | undefined
  /** True to create the namespace if it does not exist. */
  readonly createNamespace?: boolean | undefined
  /** True if commands run with bash (default), false for `sh`. */
  readonly bash?: boolean | undefined
  /** The treatment of manual changes: ask if the user can be asked, or always overwrite. */
  readonly drift?: 'ask' | 'overwrite' | undefined
  /** True if warnings are reported as new although the last deploy has reported them. */
  readonly allWarnings?: boolean | undefined
  /** `var` is what a manifest says of a dependency, and no secret. */
  readonly isVarPublic?: boolean | undefined
}
