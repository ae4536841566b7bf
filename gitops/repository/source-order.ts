/**
 * True if the first commit of the source is an ancestor of the second one; undefined where it
 * cannot be determined.
 */
export type IsAncestor = (older: string, newer: string) => Promise<boolean | undefined>

/**
 * The relation of the published source commit to ours: it is the same or one of our ancestors (`contained`), has ours
 * among its ancestors (`newer`), or is missing from our history (`missing`), so that its changes are undone.
 */
export type SourceOrder = 'contained' | 'newer' | 'missing' | 'unknown'

/** The source commit of a folder or a pull request, which the history of ours lacks. */
export interface MissingSource {
  readonly source: string
  /** Our commit. */
  readonly ours: string
  /** True if the commit is that of the pull request. */
  readonly isRequest: boolean
}

/** Compares the source commit that is published with ours. */
export async function orderOf(there: string, ours: string, isAncestor: IsAncestor): Promise<SourceOrder> {
  if (there === ours) return 'contained'
  // Ours is usually the newer one: asking this first answers most cases with one question.
  const isContained = await isAncestor(there, ours)
  if (isContained === true) return 'contained'
  if ((await isAncestor(ours, there)) === true) return 'newer'
  return isContained === false ? 'missing' : 'unknown'
}
