import type { Diagnostic, Severity } from '../diagnostic.ts'

/** Number of diagnostics of each severity, and the files that have errors. */
export interface Counts {
  readonly error: number
  readonly warning: number
  readonly info: number
  /** The files that have errors, in the order of their first error. */
  readonly files: readonly string[]
}

/** Counts diagnostics by severity and collects the files that have errors. */
export function count(diagnostics: readonly Diagnostic[]): Counts {
  const found: Record<Severity, number> = { error: 0, warning: 0, info: 0 }
  const files = new Set<string>()
  for (const { severity, span } of diagnostics) {
    found[severity]++
    if (severity === 'error' && span) files.add(span.file.path)
  }
  return { ...found, files: [...files] }
}

/**
 * Formats the counts, such as `2 errors, 1 warning`. Returns an empty text if there are no errors and warnings. Omits
 * remarks, whose severity is `info`.
 */
export function countsText(counts: Counts): string {
  const parts = [counts.error && plural(counts.error, 'error'), counts.warning && plural(counts.warning, 'warning')]
  return parts.filter(Boolean).join(', ')
}

/** Returns `1 object` or `2 objects`. Does not handle words that end in `s` or `y`, because no caller uses them. */
export function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}

/** Returns a text such as `5 services, 2 jobs`. Omits a count of zero, but returns `0 services` if both are zero. */
export function servicesText({
  serviceCount,
  jobCount,
}: Readonly<Record<'serviceCount' | 'jobCount', number>>): string {
  const jobs = jobCount > 0 ? [plural(jobCount, 'job')] : []
  const services = serviceCount > 0 || jobCount === 0 ? [plural(serviceCount, 'service')] : []
  return [...services, ...jobs].join(', ')
}

/**
 * Returns the last line of a run that found errors: `2 errors in 2 files; nothing was rendered. …`. `outcome` is the
 * consequence of the errors, such as `nothing was rendered`. The line names the code of the last error, which is
 * printed just above the line.
 */
export function failureSummary(diagnostics: readonly Diagnostic[], outcome?: string): string {
  const { error, files } = count(diagnostics)
  const where = files.length === 0 ? '' : ` in ${plural(files.length, 'file')}`
  const last = diagnostics.findLast(diagnostic => diagnostic.severity === 'error')
  const explain = last ? `. \`devctl explain ${last.code}\` tells more` : ''
  return `${plural(error, 'error')}${where}${outcome ? `; ${outcome}` : ''}${explain}`
}
