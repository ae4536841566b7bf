/** Decisions of the user about actions that a deploy does not take unless requested. */
export interface Choices {
  /** True to adopt objects without an environment label. */
  readonly adopt: boolean
  /** True to take over fields from other tools that apply them. */
  readonly forceConflicts: boolean
  /** True to deploy although the environment was deployed from other files. */
  readonly takeOver: boolean
  /**
   * Names of the routes that were not rendered because no domain is set. Existing routes of these names stay unchanged.
   */
  readonly keepRoutes: ReadonlySet<string>
  /**
   * Maximum number of workloads that a deploy may delete because they were removed from the files. If undefined: 3, or
   * 30 % of the existing workloads if that is more.
   */
  readonly pruneLimit: number | undefined
  /** Services, in Kubernetes form, whose Jobs run again. */
  readonly rerun: ReadonlySet<string>
  /** True if only a part of the application is deployed: everything else in the cluster stays unchanged. */
  readonly isPart: boolean
}

/** Choices of a deploy without options. */
export const NO_CHOICES: Choices = {
  adopt: false,
  forceConflicts: false,
  takeOver: false,
  keepRoutes: new Set(),
  pruneLimit: undefined,
  rerun: new Set(),
  isPart: false,
}
