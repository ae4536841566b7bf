/** The outcome of a destroy. */
export interface DestroyOutcome {
  /** A DNS label. */
  readonly environment: string
  readonly namespace: string
  /** The services that were named, where it was a part of the environment. */
  readonly named?: readonly string[]
  /** There was nothing. */
  readonly wasEmpty: boolean
  /** The deleted objects, as `deployment/web`. */
  readonly deleted: readonly string[]
  /** Claims, and what is annotated to be kept. */
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
