/** The user's choices about things that a deploy does not do by itself. */
export interface Choices {
  /** Take over objects that have no environment's label. */
  readonly adopt: boolean
  /** Take fields over from other tools that apply them. */
  readonly forceConflicts: boolean
  /** Deploy although the environment was deployed from somewhere else. */
  readonly takeOver: boolean
  /** Names of routes without a domain: those that exist stay unchanged. */
  readonly keepRoutes: ReadonlySet<string>
  /** Number of workloads that may be deleted because they were removed from the files; undefined: `max(3, 30 %)`. */
  readonly pruneLimit: number | undefined
  /** Services, in Kubernetes' form, whose Jobs run again. */
  readonly rerun: ReadonlySet<string>
  /** Only a part of the application is wanted: everything else in the cluster stays unchanged. */
  readonly isPart: boolean
}

/** Nothing but what a deploy does by itself. */
export const NO_CHOICES: Choices = {
  adopt: false,
  forceConflicts: false,
  takeOver: false,
  keepRoutes: new Set(),
  pruneLimit: undefined,
  rerun: new Set(),
  isPart: false,
}
