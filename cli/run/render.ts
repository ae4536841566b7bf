import { count, countsText, failureSummary, plural, servicesText } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import { type RenderOutcome, render } from '../../operations/render/render.ts'
import { openProject } from '../../project/open-project.ts'
import { namedFiles } from '../../project/project-folder.ts'
import type { Context } from '../command.ts'
import type { RenderValues } from '../commands/render.ts'
import { writeAsIs } from '../terminal/redacting.ts'
import { printDiagnostics, printSummary } from '../terminal/report.ts'
import { lossText, saveReport } from './loss-report.ts'
import { renderInput } from './render-input.ts'

/**
 * Compiles the files, then prints the manifests or writes them to a folder. Prints and writes nothing if there are
 * errors.
 */
export async function renderFiles(
  context: Context,
  services: readonly string[],
  options: RenderValues,
): Promise<number> {
  const { io, logLevel } = context
  const { output, outputDir } = options
  refuseOptions(options)
  if (options.watch) {
    if (namedFiles(io, options).includes('-'))
      throw new UsageError('`--watch` cannot watch standard input, which is read once', {
        hint: 'name a file with `-f`, or leave `--watch` out',
      })
    const { renderOnChanges } = await import('./render-watch.ts')
    return renderOnChanges(context, services, options)
  }
  const outcome = await rendered(context, services, options)
  const { diagnostics } = outcome
  if (outcome.kind === 'refused') {
    printDiagnostics(diagnostics, io, logLevel)
    io.stderr.write(`${failureSummary(diagnostics, 'nothing was rendered')}\n`)
    return 1
  }
  const { manifests, written } = outcome
  if (options.report !== undefined) await saveReport(outcome.report, options.report, io)
  if (!written) writeAsIs(io.stdout, output === 'json' ? toJsonList(manifests) : await toYamlStream(manifests))
  printDiagnostics(diagnostics, io, logLevel)
  const remarks = countsText(count(diagnostics))
  const files = written
    ? ` in ${outputDir} (${written.written} written, ${written.removed} removed, ${written.unchanged} unchanged)`
    : ''
  const objects = `${plural(manifests.length, 'object')} from ${servicesText(outcome)}`
  printSummary(`${objects}${files}${remarks && `, ${remarks}`}${lossText(outcome)}`, io, logLevel)
  return 0
}

async function rendered({ io }: Context, services: readonly string[], options: RenderValues): Promise<RenderOutcome> {
  const project = await openProject(io, options)
  const work = () => render({ workspace: io }, renderInput(services, options), project)
  if (options.outputDir === undefined) return work()
  const { showingEdits } = await import('../terminal/edit-diff.ts')
  return showingEdits(io, work)
}

function refuseOptions({ output, layout, outputDir, takeOver, watch, report }: RenderValues): void {
  if (watch && outputDir === undefined)
    throw new UsageError('`--watch` writes files', { hint: 'add `--output-dir FOLDER`' })
  if (watch && report !== undefined) throw new UsageError('`--watch` and `--report` cannot be combined')
  if (output === 'kustomize' && outputDir === undefined)
    throw new UsageError('`--output kustomize` writes several files', { hint: 'add `--output-dir FOLDER`' })
  if (layout !== undefined && outputDir === undefined)
    throw new UsageError('`--layout` writes several files', { hint: 'add `--output-dir FOLDER`' })
  if (layout !== undefined && output !== undefined)
    throw new UsageError('`--layout` and `--output` cannot be combined', { hint: 'remove one of them' })
  if (takeOver && outputDir === undefined) throw new UsageError('`--take-over` has no effect without `--output-dir`')
}

async function toYamlStream(manifests: readonly Manifest[]): Promise<string> {
  const { printStream } = await import('../../constructs/yaml.ts')
  return printStream(manifests)
}

/** Returns a single List object with all manifests, as `kubectl get -o json` prints it. */
function toJsonList(manifests: readonly Manifest[]): string {
  const items = manifests.map(({ object }) => object)
  return `${jsonText({ apiVersion: 'v1', kind: 'List', items }, 2)}\n`
}
