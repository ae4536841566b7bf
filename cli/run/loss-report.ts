import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { hasLosses, type LossReport, lossSummary } from '../../explain/loss-report.ts'
import type { Io } from '../terminal/io.ts'

/**
 * Returns text for the end of the last line of a command: how many keys are mapped, approximated and without effect.
 * Empty if no key is approximated or without effect.
 */
export function lossText(outcome: {
  readonly diagnostics: readonly Diagnostic[]
  readonly report?: LossReport | undefined
}): string {
  // Counting the keys takes longer than looking for losses.
  const report = hasLosses(outcome.diagnostics) ? outcome.report : undefined
  const summary = report && lossSummary(report)
  return summary === undefined ? '' : `; ${summary}`
}

/** Writes the loss report to the file that `--report` names, without secrets. */
export async function saveReport(report: LossReport, path: string, { cwd, secrets }: Io): Promise<void> {
  const { writeReport } = await import('../terminal/write-report.ts')
  await writeReport(report, path, { cwd, mask: text => secrets?.mask(text) ?? text })
}
