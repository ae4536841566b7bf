import { count, countsText, failureSummary, plural } from '../compiler/diagnostics/render/summary.ts'
import { jsonText } from '../compiler/values/printable.ts'
import { ABOUT_OPTIONS, compileFiles } from '../operations/project/compile-files.ts'
import type { Context } from './command.ts'
import type { LoadingValues, PlanningValues } from './project-options.ts'
import { printDiagnostics, printSummary, repositoryPath } from './report.ts'

export interface ValidateValues extends LoadingValues, PlanningValues {
  readonly forRepository: boolean
  readonly output: 'text' | 'json' | 'sarif'
}

/** Compiles and prints the diagnostics: all of them as json or sarif, those that the log level wants as text. */
export async function validateFiles(
  { io, logLevel }: Context,
  services: readonly string[],
  options: ValidateValues,
): Promise<number> {
  const { forRepository } = options
  const compilation = await compileFiles(io, services, options, options, { ...(forRepository && { forRepository }) })
  const { plan, diagnostics: found, hasNoCompose, manifest } = compilation
  // They are no fault of the files, and nothing is written that would lack it.
  const diagnostics = found.filter(({ code }) => !ABOUT_OPTIONS.has(code))
  const counts = count(diagnostics)
  const failed = counts.error > 0 || !plan
  if (options.output === 'json') {
    const { diagnosticsToJson } = await import('../compiler/diagnostics/render/json.ts')
    io.stdout.write(`${jsonText(diagnosticsToJson(diagnostics), 2)}\n`)
  } else if (options.output === 'sarif') {
    const [{ diagnosticsToSarif }, { version }] = await Promise.all([
      import('../compiler/diagnostics/render/sarif.ts'),
      import('../operations/version.ts'),
    ])
    const log = diagnosticsToSarif(diagnostics, { version: version(), repositoryPath: repositoryPath(io) })
    io.stdout.write(`${jsonText(log, 2)}\n`)
  } else {
    printDiagnostics(diagnostics, io, logLevel)
    if (failed) io.stderr.write(`${failureSummary(diagnostics)}\n`)
    else {
      const remarks = countsText(counts)
      const checked = hasNoCompose && manifest ? manifest.shown : plural(plan.serviceCount, 'service')
      printSummary(`no errors in ${checked}${remarks && `, ${remarks}`}`, io, logLevel)
    }
  }
  return failed ? 1 : 0
}
