/** Returns true if the first source commit is an ancestor of the second one; undefined if this cannot be determined. */
export type IsAncestor = (older: string, newer: string) => Promise<boolean | undefined>

/**
 * Relation of the published source commit to ours. `contained`: it is our commit or one of our ancestors. `newer`: it
 * has our commit among its ancestors. `missing`: our history lacks it, so its changes are undone.
 */
export type SourceOrder = 'contained' | 'newer' | 'missing' | 'unknown'

/** Source commit of a folder or a pull request that our history lacks. */
export interface MissingSource {
  readonly source: string
  /** Source commit that is being published. */
  readonly ours: string
  /** True if `source` is the source commit of the pull request. */
  readonly isRequest: boolean
}

/** Compares the published source commit with ours. */
export async function orderOf(there: string, ours: string, isAncestor: IsAncestor): Promise<SourceOrder> {
  if (there === ours) return 'contained'
  // Ours is usually newer, so this check first settles most cases with a single request.
  const isContained = await isAncestor(there, ours)
  if (isContained === true) return 'contained'
  if ((await isAncestor(ours, there)) === true) return 'newer'
  return isContained === false ? 'missing' : 'unknown'
}
