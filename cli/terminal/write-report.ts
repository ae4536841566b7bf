import { resolve } from 'node:path'
import { replaceFile, requireRegular } from '../../adapters/files/replace-file.ts'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { cell, prose } from '../../compiler/values/markdown.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import { type LossReport, type LostKey, lossSummary } from '../../explain/loss-report.ts'

/** Functions that format a report, by the extension of the file. */
const FORMATS: Readonly<Record<string, (report: LossReport) => string>> = {
  '.md': report => toMarkdown(report),
  '.json': report => `${jsonText(report, 2)}\n`,
}

/**
 * Writes a report as Markdown or JSON, depending on the extension of the file name. An existing regular file is
 * replaced in one step. Throws a UserError for another extension, for a path of something other than a regular file,
 * such as a link or a pipe, and for a file that cannot be written.
 */
export async function writeReport(
  report: LossReport,
  path: string,
  { cwd, mask = text => text }: { readonly cwd: string; readonly mask?: (text: string) => string },
): Promise<void> {
  const format = formatOf(path)
  if (!format)
    throw new UserError(`\`${path}\` is neither Markdown nor JSON`, { hint: 'end the name with `.md` or `.json`' })
  await requireRegular(resolve(cwd, path), path, 'the report')
  try {
    await replaceFile(resolve(cwd, path), format(masked(report, mask)))
  } catch (error) {
    throw new UserError(`could not write \`${path}\`: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * Returns the report with masked texts. Secrets are masked before the texts are formatted, because they could no longer
 * be found once they are escaped.
 */
function masked(report: LossReport, mask: (text: string) => string): LossReport {
  const losses = report.losses.map(loss => {
    const fields = Object.entries(loss).map(([name, value]) => [name, typeof value === 'string' ? mask(value) : value])
    return Object.fromEntries(fields) as LostKey // the same fields
  })
  return { ...report, losses }
}

const formatOf = (path: string) => Object.entries(FORMATS).find(([ending]) => path.endsWith(ending))?.[1]

/** Returns the report as a table with a row for each loss, for reviewers. */
export function toMarkdown(report: LossReport): string {
  const { mapped, losses } = report
  const summary = lossSummary(report) ?? `all ${mapped} keys mapped`
  const rows = losses.map(rowOf)
  const head = ['line', 'key', 'becomes', 'what is lost', 'what to do']
  const table =
    rows.length === 0 ? [] : ['', `| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows]
  return `${['# Keys that are lost or approximated', '', summary, ...table].join('\n')}\n`
}

function rowOf({ file, line, key, becomes, message, why, hint }: LostKey): string {
  const lost = [message, why].filter(text => text !== undefined).map(inCell)
  return `| ${cell(`${file}:${line}`)} | ${cell(key)} | ${becomes.replaceAll('|', '\\|') || 'nothing'} | ${lost.join('. ')} | ${hint === undefined ? '' : inCell(hint)} |`
}

const inCell = (text: string): string => prose(text).replaceAll(/(?<!\\)\|/g, '\\|')
