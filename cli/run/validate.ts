import { count, countsText, failureSummary, servicesText } from '../../compiler/diagnostics/render/summary.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import { validate } from '../../operations/validate/validate.ts'
import type { Context } from '../command.ts'
import type { ValidateValues } from '../commands/validate.ts'
import { printDiagnostics, printSummary, repositoryPath } from '../terminal/report.ts'
import { lossText, saveReport } from './loss-report.ts'

/**
 * Compiles the files and prints the diagnostics: all of them as JSON or SARIF, or those that the log level includes as
 * text.
 */
export async function validateFiles(
  { io, logLevel }: Context,
  services: readonly string[],
  options: ValidateValues,
): Promise<number> {
  const outcome = await validate({ workspace: io }, { ...options, services })
  const { diagnostics, isValid, onlyManifest, mainFile } = outcome
  if (options.report !== undefined && outcome.report) await saveReport(outcome.report, options.report, io)
  if (options.output === 'json') {
    const { diagnosticsToJson } = await import('../../compiler/diagnostics/render/json.ts')
    io.stdout.write(`${jsonText(diagnosticsToJson(diagnostics), 2)}\n`)
  } else if (options.output === 'sarif') {
    const [{ diagnosticsToSarif }, { version }] = await Promise.all([
      import('../../compiler/diagnostics/render/sarif.ts'),
      import('../../project/version.ts'),
    ])
    const paths = { repositoryPath: repositoryPath(io), ...(mainFile !== undefined && { mainFile }) }
    const log = diagnosticsToSarif(diagnostics, { version: version(), ...paths })
    io.stdout.write(`${jsonText(log, 2)}\n`)
  } else {
    printDiagnostics(diagnostics, io, logLevel)
    if (!isValid) io.stderr.write(`${failureSummary(diagnostics)}\n`)
    else {
      const remarks = countsText(count(diagnostics))
      const checked = onlyManifest ?? servicesText(outcome)
      printSummary(`no errors in ${checked}${remarks && `, ${remarks}`}${lossText(outcome)}`, io, logLevel)
    }
  }
  return isValid ? 0 : 1
}
