/** Returns true if the first source commit is an ancestor of the second one; undefined if this cannot be determined. */
export type IsAncestor = (older: string, newer: string) => Promise<boolean | undefined>

/**
 * Relation of the published source commit to ours. `contained`: the published commit is our commit or one of its
 * ancestors. `newer`: our commit is an ancestor of the published one. `missing`: our history lacks the published
 * commit, so its changes would be undone. `unknown`: the relation cannot be determined.
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

/** Returns the relation of the published source commit (`there`) to ours. */
export async function orderOf(there: string, ours: string, isAncestor: IsAncestor): Promise<SourceOrder> {
  if (there === ours) return 'contained'
  // Ours is usually newer, so this check first settles most cases with a single request.
  const isContained = await isAncestor(there, ours)
  if (isContained === true) return 'contained'
  if ((await isAncestor(ours, there)) === true) return 'newer'
  return isContained === false ? 'missing' : 'unknown'
}
