/**
 * True if the first commit of the source is an ancestor of the second one; undefined where it
 * cannot be determined.
 */
export type IsAncestor = (older: string, newer: string) => Promise<boolean | undefined>

/**
 * How the source commit that is published relates to ours: it is among our ancestors or the same
 * (`contained`), has ours among its own (`newer`), or the history of ours lacks it (`missing`), so
 * that its changes are undone.
 */
export type SourceOrder = 'contained' | 'newer' | 'missing' | 'unknown'

/** The source commit of a folder or a pull request, which the history of ours lacks. */
export interface MissingSource {
  readonly source: string
  /** Our commit. */
  readonly ours: string
  /** It is that of the pull request. */
  readonly isRequest: boolean
}

/** Compares the source commit that is published with ours. */
export async function orderOf(there: string, ours: string, isAncestor: IsAncestor): Promise<SourceOrder> {
  if (there === ours) return 'contained'
  // Most are newer than what is there: asked first, that is all that is asked.
  const isContained = await isAncestor(there, ours)
  if (isContained === true) return 'contained'
  if ((await isAncestor(ours, there)) === true) return 'newer'
  return isContained === false ? 'missing' : 'unknown'
}
