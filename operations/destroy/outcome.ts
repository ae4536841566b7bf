/** The outcome of a destroy. */
export interface DestroyOutcome {
  /** A DNS label. */
  readonly environment: string
  readonly namespace: string
  /** The services that were named, where it was a part of the environment. */
  readonly named?: readonly string[]
  /** There was nothing. */
  readonly wasEmpty: boolean
  /** True if the namespace did not exist: that is no error, because nothing is left to destroy in it. */
  readonly isNamespaceGone: boolean
  /** A namespace that does not exist may be a spelling mistake: ``did you mean `shop`?`` */
  readonly similarNamespace?: string
  /** The deleted objects, as `deployment/web`. */
  readonly deleted: readonly string[]
  /** Claims, and what is annotated to be kept; without what others have deleted in the meantime. */
  readonly kept: readonly string[]
  /** True if claims were to go, too. */
  readonly volumes: boolean
  /** Objects that stay because of their content, with the reason. */
  readonly held: readonly { readonly object: string; readonly why: string }[]
  /** True if it was waited until everything was gone. */
  readonly waits: boolean
  /** The repositories that the manifest depends on, and that stay. */
  readonly left: readonly string[]
  readonly milliseconds: number
}
