/** Outcome of a destroy. */
export interface DestroyOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  /** Services that the user named, if only a part of the environment was destroyed. */
  readonly named?: readonly string[]
  /** True if nothing existed to destroy. */
  readonly wasEmpty: boolean
  /** True if the namespace did not exist. This is no error, because nothing is left to destroy in it. */
  readonly isNamespaceGone: boolean
  /**
   * Set if the cluster has a platform and the namespace was not found. The namespace may nevertheless exist and belong
   * to other users, because a platform does not show their namespaces.
   */
  readonly isPerhapsForeign?: true
  /** Suggestion in case the namespace was misspelled, such as ``did you mean `shop`?`` */
  readonly similarNamespace?: string
  /** Deleted objects, such as `deployment/web`. */
  readonly deleted: readonly string[]
  /**
   * PersistentVolumeClaims, and objects annotated to be kept, except those that other users have deleted in the
   * meantime.
   */
  readonly kept: readonly string[]
  /** True if PersistentVolumeClaims should be deleted, too. */
  readonly volumes: boolean
  /** Objects that were kept because of their content, with the reason. */
  readonly held: readonly { readonly object: string; readonly why: string }[]
  /** True if destroy waited until all objects were deleted. */
  readonly waits: boolean
  /** Repositories that the manifest depends on and that were not destroyed. */
  readonly left: readonly string[]
  readonly milliseconds: number
}
