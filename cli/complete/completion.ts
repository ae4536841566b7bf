/** A possible argument, or value of an option. */
export interface Suggestion {
  readonly value: string
  /** Description of the candidate, on a single line. */
  readonly description?: string
}

/** Answer to the completion script of a shell. */
export type Completion =
  | {
      /** `no-space` if more of the argument follows the candidate. */
      readonly kind: 'values' | 'no-space'
      readonly candidates: readonly Suggestion[]
      /** Part of the argument before the candidate: `--file=`, or empty. */
      readonly prefix: string
    }
  | {
      /** Kind of paths that the shell lists itself. */
      readonly kind: 'files' | 'folders'
      readonly prefix: string
    }

export type CompletionKind = Completion['kind']

/** Returns true if a text is safe to show in a terminal and to insert in a line. */
export function isPrintable(text: string): boolean {
  return !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)
}
