/** A problem that an operator has to fix. */
export interface PlatformProblem {
  readonly message: string
  readonly notes: readonly string[]
  readonly hint?: string
}
