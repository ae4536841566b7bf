import { resolve } from 'node:path'
import { count, countsText, failureSummary, plural } from '../compiler/diagnostics/render/summary.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Manifest as SourceManifest } from '../compiler/manifest/manifest.ts'
import type { Manifest } from '../constructs/manifest.ts'
import type { Context } from './command.ts'
import { compileFiles } from './compile-files.ts'
import { UsageError } from './errors.ts'
import type { LoadingValues, PlanningValues } from './project-options.ts'
import { printDiagnostics, printSummary } from './report.ts'

export interface RenderValues extends LoadingValues, PlanningValues {
  readonly format: 'yaml' | 'json' | 'kustomize'
  readonly outputDir: string | undefined
  readonly takeOver: boolean
}

/** Compiles, then prints the manifests or writes them to a folder. Nothing is printed or written when there are errors. */
export async function renderFiles(
  context: Context,
  services: readonly string[],
  options: RenderValues,
): Promise<number> {
  const { io, logLevel } = context
  const { format, outputDir, takeOver } = options
  if (format === 'kustomize' && outputDir === undefined) {
    throw new UsageError('`--format kustomize` makes several files', { hint: 'add `--output-dir FOLDER`' })
  }
  if (takeOver && outputDir === undefined) throw new UsageError('`--take-over` has a meaning only with `--output-dir`')

  const { plan, diagnostics, hasNoCompose, manifest } = await compileFiles(io, services, options, options)
  const counts = count(diagnostics)
  if (!plan || counts.error > 0) {
    printDiagnostics(diagnostics, io, logLevel)
    io.stderr.write(`${failureSummary(diagnostics, 'nothing was rendered')}\n`)
    return 1
  }

  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  const { toManifests } = await import('../constructs/index.ts')
  const manifests = toManifests(plan)
  let written = ''
  if (outputDir === undefined) {
    io.stdout.write(format === 'json' ? toJsonList(manifests) : await toYamlStream(manifests))
  } else {
    const [{ writeOutput }, { toFiles }] = await Promise.all([
      import('../gitops/tree/output-directory.ts'),
      import('../gitops/tree/files.ts'),
    ])
    const result = writeOutput(resolve(io.cwd, outputDir), outputDir, {
      environment: plan.environment.name,
      sources: [...new Set(manifests.map(({ source }) => source.split('#', 1)[0]!))].sort(),
      files: toFiles(manifests, format),
      index: format === 'kustomize',
      // The objects of the services that were not asked for are still wanted.
      keepOthers: services.length > 0,
      takeOver,
    })
    written = ` in ${outputDir} (${result.written} written, ${result.removed} removed, ${result.unchanged} unchanged)`
  }
  printDiagnostics(diagnostics, io, logLevel)
  const remarks = countsText(counts)
  const objects = `${plural(manifests.length, 'object')} from ${plural(plan.serviceCount, 'service')}`
  printSummary(`${objects}${written}${remarks && `, ${remarks}`}`, io, logLevel)
  return 0
}

/** A manifest may do without a Compose file; then there is nothing that could be rendered or printed. */
export function nothingToRender({ shown, automatic }: SourceManifest): UserError {
  return new UserError(
    automatic
      ? `there is no Compose file to render: \`${shown}\` is deployed as it is`
      : `there is no Compose file to render: \`${shown}\` names none, and there is none beside it`,
    { hint: 'write a `compose.yaml`, or name one in `deploy.compose` of the manifest' },
  )
}

async function toYamlStream(manifests: readonly Manifest[]): Promise<string> {
  const { printStream } = await import('../constructs/yaml.ts')
  return printStream(manifests)
}

/** One object that holds all, as `kubectl get -o json` prints them. */
function toJsonList(manifests: readonly Manifest[]): string {
  const items = manifests.map(({ object }) => object)
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`
}
