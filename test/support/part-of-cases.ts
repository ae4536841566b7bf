import { execFileSync } from 'node:child_process'
import { root } from './cases.ts'
import { TAKES_ALL } from './takes-all.ts'

/**
 * Chooses every `parts`th case, by the commit: each commit tries other cases, and a failure repeats in a checkout of
 * the same commit. Takes all cases where TAKE=all is set. Returns the cases, and a text for the title of the tests that
 * names the commit.
 */
export function partOf<T>(
  cases: readonly T[],
  parts: number,
): { readonly cases: readonly T[]; readonly title: string } {
  if (TAKES_ALL) return { cases, title: 'all cases' }
  const commit = checkedOut()
  const first = Number.parseInt(commit.slice(0, 8), 16) % parts
  return {
    cases: cases.filter((_, index) => index % parts === first),
    title: `every ${parts}th case from number ${first}, by commit ${commit.slice(0, 8)}`,
  }
}

/**
 * Returns the commit that is checked out; the same one always where the sources are in no checkout, or git is missing.
 */
function checkedOut(): string {
  try {
    const text = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
    return /^[0-9a-f]{40,}$/.exec(text.trim())?.[0] ?? NO_COMMIT
  } catch {
    return NO_COMMIT
  }
}
const NO_COMMIT = '0'.repeat(40)
