import type { LoadInput, PlanInput } from '../../project/input.ts'
import type { Tolerance } from '../../project/tolerance.ts'

/** Common input of `deploy` and `diff`: the files to compile, and the actions that the user allows. */
export interface ForCluster extends LoadInput, Omit<PlanInput, 'includeSecrets'> {
  /** Services to deploy, together with their dependencies. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
  /** False to deploy the named services without their dependencies. */
  readonly deps?: boolean | undefined
  /** Number of replicas by service, until the next deploy. */
  readonly replicas?: Readonly<Record<string, number>> | undefined
  /**
   * True to build the images of all services with `build`. If absent, only images missing from the registry are built.
   */
  readonly build?: boolean | undefined
  /** True to adopt existing objects without an owner. */
  readonly adopt?: boolean | undefined
  /** True to take over fields that another tool manages. */
  readonly forceConflicts?: boolean | undefined
  /** True to deploy even if the environment was deployed from another repository or file. */
  readonly takeOver?: boolean | undefined
  /**
   * Maximum number of workloads that may be deleted because they were removed from the files. Default: 3, or 30 % of
   * all workloads of the environment if that is more.
   */
  readonly pruneLimit?: number | undefined
  /** True if the cluster should pull images with the credentials in the user's Docker configuration. */
  readonly registryCredentials?: boolean | undefined
  /** Services whose Jobs run again even if nothing changed. */
  readonly rerun?: readonly string[] | undefined
  /**
   * Services that `up` deploys and immediately replaces with development containers. Diagnostics about copies of their
   * host volumes, and about public addresses without a domain, are omitted.
   */
  readonly developed?: readonly string[] | undefined
  /** Variables with the precedence of environment variables; the workspace contains them, too. */
  readonly var?: Readonly<Record<string, string>> | undefined
}

export interface DeployInput extends ForCluster, Tolerance {
  /**
   * True to wait until every workload is ready. Otherwise the deploy only waits for workloads that others depend on.
   */
  readonly wait?: boolean | undefined
  /** True to replace the Pods of services that are up to date, too. */
  readonly forceRecreate?: boolean | undefined
  /** True to deploy the repositories that the manifest depends on even if they are already deployed. */
  readonly dependencies?: boolean | undefined
  /** True to create the namespace if it does not exist. */
  readonly createNamespace?: boolean | undefined
  /** True to run commands with bash (default), false for `sh`. */
  readonly bash?: boolean | undefined
  /** Treatment of manual changes: ask the user if possible, or always overwrite. */
  readonly drift?: 'ask' | 'overwrite' | undefined
  /** True to report warnings in full even if the last deploy has already reported them. */
  readonly allWarnings?: boolean | undefined
  /** True if `var` comes from a dependency in a manifest and is therefore not secret. */
  readonly isVarPublic?: boolean | undefined
}
