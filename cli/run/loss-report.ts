import { type LossReport, lossSummary } from '../../operations/report/loss-report.ts'
import type { Io } from '../terminal/io.ts'

/** Returns the end of the last line of a command: the keys that are mapped, if not all are. */
export function lossText(report: LossReport | undefined): string {
  const summary = report && lossSummary(report)
  return summary === undefined ? '' : `; ${summary}`
}

/** Writes the report of `--report`. */
export async function saveReport(report: LossReport, path: string, { cwd, secrets }: Io): Promise<void> {
  const { writeReport } = await import('../../operations/report/write-report.ts')
  await writeReport(report, path, { cwd, mask: text => secrets?.mask(text) ?? text })
}
