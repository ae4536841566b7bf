import { resolve } from 'node:path'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { count } from '../../compiler/diagnostics/render/summary.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { LayoutName } from '../../gitops/repository/layout/readme.ts'
import type { WrittenCounts } from '../../gitops/repository/tree/output-directory.ts'
import { compileFiles } from '../../project/compile-files.ts'
import { nothingToRender } from '../../project/nothing-to-render.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { LocalContext } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { RenderInput } from './input.ts'

export type RenderOutcome =
  /** The files have errors, and nothing was written. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly kind: 'rendered'
      /** Warnings, and what else is to be known. */
      readonly diagnostics: readonly Diagnostic[]
      /** Manifests in the order in which they are read; for a published environment, as controllers get them. */
      readonly manifests: readonly Manifest[]
      /** Number of services that the manifests are for. */
      readonly serviceCount: number
      /** The result for the files of the folder; absent if no files were to be written. */
      readonly written?: WrittenCounts
    }

/**
 * Compiles an application, and writes its manifests to a folder where one is named. Reads files only, no cluster.
 * Throws a UserError for a project without Compose files, and an `OverwriteRefusal` for files of the folder that were
 * edited by hand.
 */
export async function render(
  { workspace }: Pick<LocalContext, 'workspace'>,
  input: RenderInput,
  project: OpenProject,
): Promise<RenderOutcome> {
  const { services = [], outputDir } = input
  const compiled = await compileFiles(workspace, services, input, input, { project })
  const { plan, loaded, diagnostics, hasNoCompose, manifest } = compiled
  if (!plan || count(diagnostics).error > 0) return { kind: 'refused', diagnostics }
  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  const { toManifests } = await import('../../constructs/index.ts')
  const layout = layoutOf(input, project)
  const manifests = layout === undefined ? toManifests(plan) : await published(plan, toManifests(plan), project)
  const outcome = { kind: 'rendered', diagnostics, manifests, serviceCount: plan.serviceCount } as const
  if (outputDir === undefined) return outcome
  const directory = manifest?.folder ?? loaded?.directory ?? workspace.cwd
  const written =
    layout === undefined || services.length > 0
      ? [await writeFiles(workspace, input, plan, manifests, outputDir)]
      : await (await import('./write-layout.ts')).writeLayout(workspace, input, project, {
          plan,
          manifests,
          outputDir,
          directory,
          layout,
        })
  return { ...outcome, written: sumOf(written) }
}

const sumOf = (all: readonly WrittenCounts[]): WrittenCounts => {
  const sum = (key: keyof WrittenCounts) => all.reduce((total, one) => total + one[key], 0)
  return { written: sum('written'), removed: sum('removed'), unchanged: sum('unchanged') }
}

/** Writes a file for each object, and nothing else but what the format asks for. */
async function writeFiles(
  { cwd }: Workspace,
  { format = 'yaml', takeOver = false, services = [] }: RenderInput,
  plan: Plan,
  manifests: readonly Manifest[],
  outputDir: string,
): Promise<WrittenCounts> {
  const [{ writeOutput }, { toFiles }, { sourcesOf }] = await Promise.all([
    import('../../gitops/repository/tree/output-directory.ts'),
    import('../../gitops/repository/tree/files.ts'),
    import('../../gitops/publish/compile/sources.ts'),
  ])
  return writeOutput(resolve(cwd, outputDir), outputDir, {
    application: plan.environment.name,
    sources: sourcesOf(manifests),
    files: toFiles(manifests, format),
    index: format === 'kustomize',
    // The objects of the services that were not asked for are still wanted.
    keepOthers: services.length > 0,
    takeOver,
  })
}

/**
 * The layout of what is written: what `publish` would commit, for an environment that is published, unless a format is
 * asked for. An overlay alone is of no use in a folder of its own: it is laid out plainly there, with what it would
 * build to.
 */
function layoutOf({ layout, format }: RenderInput, { environment }: OpenProject): LayoutName | undefined {
  if (layout !== undefined) return layout
  const { publish } = environment ?? {}
  if (format !== undefined || (publish?.repository ?? publish?.oci) === undefined) return undefined
  return publish?.layout === 'single-file' ? 'single-file' : 'plain'
}

async function published(plan: Plan, manifests: readonly Manifest[], project: OpenProject) {
  const { forController } = await import('../../gitops/publish/compile/for-controllers.ts')
  return forController({ plan, manifests }, project)
}
