import { Budget, LIMITS, OverBudget, parseLimits } from '../../diagnostics/budget.ts'
import { type Diagnostic, diagnostic } from '../../diagnostics/diagnostic.ts'
import { Reporter } from '../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../host.ts'

const VARIABLE = 'DEVCTL_LIMITS'
const list = Object.entries(LIMITS)
  .map(([name, { most, what }]) => `| \`${name}\` | ${most.toLocaleString('en')} | ${what} |`)
  .join('\n')

const exceeded = diagnostic({
  code: 'limits/exceeded',
  severity: 'error',
  explain: `Files that were made to hurt, or a slip such as a range of ports with a digit too many, could take all memory and time. So there are limits, which are looked at before the work is done:

| limit | usually | of what |
|---|---|---|
${list}

Where that is too little, raise it in the environment: \`${VARIABLE}=ports=200000,context=4g\`. Numbers may end in \`k\`, \`m\` or \`g\`.`,
  text: (p: { limit: string; most: number; what: string }) => ({
    message: `more than ${p.most.toLocaleString('en')} ${p.what}`,
    hint: `if that is right, raise the limit: \`${VARIABLE}=${p.limit}=NUMBER\``,
  }),
})
const invalid = diagnostic({
  code: 'limits/invalid',
  severity: 'error',
  explain: `The variable \`${VARIABLE}\` raises limits of a compilation: \`ports=200000,context=4g\`. \`devctl explain limits/exceeded\` lists them.`,
  text: (p: { part: string }) => ({
    message: `\`${p.part}\` in \`${VARIABLE}\` sets no limit`,
    hint: `write \`NAME=NUMBER\`; the names are ${Object.keys(LIMITS)
      .map(name => `\`${name}\``)
      .join(', ')}`,
  }),
})

/** Does the work of a compilation within its limits. Where one is reached, \`stopped\` makes the result of what was reported until then. */
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
  try {
    return work(reporter)
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error
    const { limit, most, span } = error
    reporter.report(exceeded, span, { limit, most, what: LIMITS[limit].what })
    return stopped(reporter.diagnostics())
  }
}
