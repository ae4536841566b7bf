/**
 * Oldest version of the command line that works with this server. If a change makes older versions fail in an unclear
 * way, for example by removing a route that they call, set this to the version that is released with the change.
 */
export const MIN_CLI = '0.1.0'

/** True if `version` precedes `than`; false if one of the two is not a version. A suffix after a dash is ignored. */
export function isOlder(version: string, than: string): boolean {
  const [one, other] = [partsOf(version), partsOf(than)]
  const at = one?.findIndex((part, index) => part !== other?.[index]) ?? -1
  return at >= 0 && one !== undefined && other !== undefined && one[at]! < other[at]!
}

const partsOf = (text: string): readonly number[] | undefined =>
  /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[-+]|$)/.exec(text)?.slice(1).map(Number)
