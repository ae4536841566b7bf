import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { At } from '../../text/source.ts'

/** The largest number that Kubernetes accepts for a count: the maximum of a signed 32-bit integer. */
const HIGHEST = 2147483647

const tooLarge = diagnostic({
  code: 'schema/count-too-large',
  severity: 'error',
  explain:
    'Replicas, retries and device counts are 32-bit integers in Kubernetes. The API server refuses numbers above 2147483647.',
  text: (p: { key: string; hint?: string | undefined }) => ({
    message: `\`${p.key}\` must not be more than ${HIGHEST}`,
    hint: p.hint ?? 'write a smaller number',
  }),
})

/** Returns a count. Reports a count that exceeds `HIGHEST`, and returns `HIGHEST` instead. */
export function checkCount<T extends At<number> | undefined>(
  found: T,
  key: string,
  reporter: Reporter,
  hint?: string,
): T | At<number> {
  if (!found || found.value <= HIGHEST) return found
  reporter.report(tooLarge, found.span, { key, hint })
  return { value: HIGHEST, span: found.span }
}
