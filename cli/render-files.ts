import { resolve } from 'node:path'
import { count, countsText, failureSummary, plural } from '../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../compiler/diagnostics/user-error.ts'
import type { Plan } from '../compiler/plan/plan.ts'
import { jsonText } from '../compiler/values/printable.ts'
import type { Manifest } from '../constructs/manifest.ts'
import type { LayoutName } from '../operations/gitops/layout/readme.ts'
import type { WrittenCounts } from '../operations/gitops/tree/output-directory.ts'
import { compileFiles } from '../operations/project/compile-files.ts'
import { nothingToRender } from '../operations/project/nothing-to-render.ts'
import { openProject } from '../operations/project/open-project.ts'
import type { OpenProject } from '../operations/project/opened-project.ts'
import { sourcesOf } from '../operations/publish/sources.ts'
import type { Context } from './command.ts'
import { writeAsIs } from './redacting.ts'
import type { RenderValues } from './render-values.ts'
import { printDiagnostics, printSummary } from './report.ts'

/** Compiles, then prints the manifests or writes them to a folder. Nothing is printed or written when there are errors. */
export async function renderFiles(
  context: Context,
  services: readonly string[],
  options: RenderValues,
): Promise<number> {
  const { io, logLevel } = context
  const { format, outputDir } = options
  refuseOptions(options)
  const project = await openProject(io, options)
  const { plan, loaded, diagnostics, hasNoCompose, manifest } = await compileFiles(io, services, options, options, {
    project,
  })
  const counts = count(diagnostics)
  if (!plan || counts.error > 0) {
    printDiagnostics(diagnostics, io, logLevel)
    io.stderr.write(`${failureSummary(diagnostics, 'nothing was rendered')}\n`)
    return 1
  }

  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  const { toManifests } = await import('../constructs/index.ts')
  const layout = layoutOf(options, project)
  const manifests = layout === undefined ? toManifests(plan) : await published(plan, toManifests(plan), project)
  let written = ''
  if (outputDir === undefined) {
    writeAsIs(io.stdout, format === 'json' ? toJsonList(manifests) : await toYamlStream(manifests))
  } else {
    const directory = manifest?.folder ?? loaded?.directory ?? io.cwd
    const files = { plan, manifests, outputDir, directory }
    const write = async (): Promise<readonly WrittenCounts[]> =>
      layout === undefined || services.length > 0
        ? [await writeFiles(context, services, options, files)]
        : (await import('./publish/write-layout.ts')).writeLayout(context, options, project, { ...files, layout })
    const { showingEdits } = await import('./edit-diff.ts')
    const results = await showingEdits(io, write)
    const sum = (key: keyof WrittenCounts) => results.reduce((total, one) => total + one[key], 0)
    written = ` in ${outputDir} (${sum('written')} written, ${sum('removed')} removed, ${sum('unchanged')} unchanged)`
  }
  printDiagnostics(diagnostics, io, logLevel)
  const remarks = countsText(counts)
  const objects = `${plural(manifests.length, 'object')} from ${plural(plan.serviceCount, 'service')}`
  printSummary(`${objects}${written}${remarks && `, ${remarks}`}`, io, logLevel)
  return 0
}

/** Writes a file for each object, and nothing else but what `--format` asks for. */
async function writeFiles(
  { io }: Context,
  services: readonly string[],
  { format = 'yaml', takeOver }: RenderValues,
  {
    plan,
    manifests,
    outputDir,
  }: { readonly plan: Plan; readonly manifests: readonly Manifest[]; readonly outputDir: string },
): Promise<WrittenCounts> {
  const [{ writeOutput }, { toFiles }] = await Promise.all([
    import('../operations/gitops/tree/output-directory.ts'),
    import('../operations/gitops/tree/files.ts'),
  ])
  return writeOutput(resolve(io.cwd, outputDir), outputDir, {
    application: plan.environment.name,
    sources: sourcesOf(manifests),
    files: toFiles(manifests, format),
    index: format === 'kustomize',
    // The objects of the services that were not asked for are still wanted.
    keepOthers: services.length > 0,
    takeOver,
  })
}

function refuseOptions({ format, layout, outputDir, takeOver }: RenderValues): void {
  if (format === 'kustomize' && outputDir === undefined)
    throw new UsageError('`--format kustomize` makes several files', { hint: 'add `--output-dir FOLDER`' })
  if (layout !== undefined && outputDir === undefined)
    throw new UsageError('`--layout` makes several files', { hint: 'add `--output-dir FOLDER`' })
  if (layout !== undefined && format !== undefined)
    throw new UsageError('`--layout` and `--format` both say how files are laid out', { hint: 'leave one out' })
  if (takeOver && outputDir === undefined) throw new UsageError('`--take-over` has a meaning only with `--output-dir`')
}

/**
 * The layout of what is written: what `publish` would commit, for an environment that is published, unless a format is asked for. An overlay alone is of no use in a
 * folder of its own: it is laid out plainly there, with what it would build to.
 */
function layoutOf({ layout, format }: RenderValues, { environment }: OpenProject): LayoutName | undefined {
  if (layout !== undefined) return layout
  const { publish } = environment ?? {}
  if (format !== undefined || (publish?.repository ?? publish?.oci) === undefined) return undefined
  return publish?.layout === 'single-file' ? 'single-file' : 'plain'
}

async function published(plan: Plan, manifests: readonly Manifest[], project: OpenProject) {
  const { forController } = await import('../operations/publish/for-controllers.ts')
  return forController({ plan, manifests }, project)
}

async function toYamlStream(manifests: readonly Manifest[]): Promise<string> {
  const { printStream } = await import('../constructs/yaml.ts')
  return printStream(manifests)
}

/** One object that holds all, as `kubectl get -o json` prints them. */
function toJsonList(manifests: readonly Manifest[]): string {
  const items = manifests.map(({ object }) => object)
  return `${jsonText({ apiVersion: 'v1', kind: 'List', items }, 2)}\n`
}
