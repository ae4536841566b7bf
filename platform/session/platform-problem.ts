/** Something that an operator has to look at. */
export interface PlatformProblem {
  readonly message: string
  readonly notes: readonly string[]
  readonly hint?: string
}
