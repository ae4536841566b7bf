/**
 * Returns whether tests are left out because this machine lacks something. Throws where `scripts/ci.mjs` says that
 * nothing is left out.
 */
export function lacks(what: string, isMissing: boolean): boolean {
  if (isMissing && process.env.EXPECT_ALL) throw new Error(`${what}: missing, and no test may be left out here`)
  return isMissing
}
