import { Budget, LIMITS, OverBudget, parseLimits } from '../../diagnostics/budget.ts'
import { type Diagnostic, diagnostic } from '../../diagnostics/diagnostic.ts'
import { Reporter } from '../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../host.ts'
import { withCommas } from '../../values/numbers/decimal.ts'

const VARIABLE = 'DEVCTL_LIMITS'
const list = Object.entries(LIMITS)
  .map(([name, { most, what }]) => `| \`${name}\` | ${withCommas(most)} | ${what} |`)
  .join('\n')

const exceeded = diagnostic({
  code: 'limits/exceeded',
  severity: 'error',
  explain: `A malicious file, or a typo such as an extra digit in a port range, could use up all memory and time. devctl checks these limits before it does the work:

| limit | default | counts |
|---|---|---|
${list}

To raise limits, set the environment variable \`${VARIABLE}=ports=200000,context=4g\`. Numbers may end in \`k\`, \`m\` or \`g\`.`,
  text: (p: { limit: string; most: number; what: string }) => ({
    message: `more than ${withCommas(p.most)} ${p.what}`,
    hint: `if this is intended, raise the limit: \`${VARIABLE}=${p.limit}=NUMBER\``,
  }),
})
const invalid = diagnostic({
  code: 'limits/invalid',
  severity: 'error',
  explain: `The variable \`${VARIABLE}\` raises the limits of a compilation: \`ports=200000,context=4g\`. \`devctl explain limits/exceeded\` lists them.`,
  text: (p: { part: string }) => ({
    message: `\`${p.part}\` in \`${VARIABLE}\` is not a valid limit`,
    hint: `write \`NAME=NUMBER\`; the names are ${Object.keys(LIMITS)
      .map(name => `\`${name}\``)
      .join(', ')}`,
  }),
})

/**
 * Runs `work` with the limits of DEVCTL_LIMITS. If `work` exceeds a limit, reports that and returns the result of
 * `stopped`, which receives the diagnostics so far.
 */
export function withinLimits<Result>(
  { strict }: { readonly strict?: boolean | undefined },
  host: CompilerHost,
  work: (reporter: Reporter) => Result,
  stopped: (diagnostics: readonly Diagnostic[]) => Result,
): Result {
  const { limits, wrong } = parseLimits(host.environment.get(VARIABLE) ?? '')
  const reporter = new Reporter({ ...(strict && { strict }), budget: new Budget(limits, host.now) })
  if (wrong !== undefined) {
    reporter.report(invalid, undefined, { part: wrong })
    return stopped(reporter.diagnostics())
  }
  return untilLimit(reporter, work, stopped)
}

/**
 * Runs `work`. If it exceeds the budget of the reporter, reports that and returns the result of `stopped`, which
 * receives the diagnostics so far.
 */
export function untilLimit<Result>(
  reporter: Reporter,
  work: (reporter: Reporter) => Result,
  stopped: (diagnostics: readonly Diagnostic[]) => Result,
): Result {
  try {
    return work(reporter)
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error
    const { limit, most, span } = error
    reporter.report(exceeded, span, { limit, most, what: LIMITS[limit].what })
    return stopped(reporter.diagnostics())
  }
}
