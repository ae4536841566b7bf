import { resolve } from 'node:path'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { count } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import { type LossReport, lossReport } from '../../explain/loss-report.ts'
import type { LayoutName } from '../../gitops/repository/layout/readme.ts'
import type { WrittenCounts } from '../../gitops/repository/tree/output-directory.ts'
import { compileFiles } from '../../project/compile-files.ts'
import { including } from '../../project/names/named-services.ts'
import { nothingToRender } from '../../project/nothing-to-render.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { LocalContext } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { RenderInput } from './input.ts'
import { renderedPart } from './rendered-part.ts'

export type RenderOutcome =
  /** The files have errors, and nothing was written. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly kind: 'rendered'
      /** Warnings and notes. */
      readonly diagnostics: readonly Diagnostic[]
      /**
       * Manifests in the order of the files. For a published environment, these are the objects as controllers receive
       * them.
       */
      readonly manifests: readonly Manifest[]
      /**
       * Numbers of keys of the Compose files that are mapped, approximated, and without effect. The keys are counted
       * when the property is read.
       */
      readonly report: LossReport
      /** Number of services in the manifests. */
      readonly serviceCount: number
      /** Number of jobs, which are not among the services. */
      readonly jobCount: number
      /** Numbers of written, removed and unchanged files in the folder; absent if no folder was requested. */
      readonly written?: WrittenCounts
    }

/**
 * Compiles an application, and writes its manifests to a folder if requested. Uses only files, no cluster. Throws a
 * UserError if the project has no Compose files, a UsageError for names of services with a layout that always has all
 * services, and an `OverwriteRefusal` if files in the folder were edited by hand.
 */
export async function render(
  {
    workspace,
    onRead,
    onMissing,
  }: Pick<LocalContext, 'workspace'> & {
    /** Called with the absolute path and the bytes of each file that is read, other than the manifest. */
    readonly onRead?: (path: string, bytes: Uint8Array) => void
    /** Called with the absolute path of each file or folder that does not exist, but would be used if it did. */
    readonly onMissing?: (path: string) => void
  },
  input: RenderInput,
  project: OpenProject,
): Promise<RenderOutcome> {
  const { services = [], outputDir } = input
  const noticing = { ...(onRead && { onRead }), ...(onMissing && { onMissing }) }
  const compiled = await compileFiles(workspace, [], input, input, {
    project,
    ...including(services, project),
    ...noticing,
  })
  const { plan, loaded, hasNoCompose, manifest } = compiled
  if (!plan || count(compiled.diagnostics).error > 0) return { kind: 'refused', diagnostics: compiled.diagnostics }
  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  const { toManifests } = await import('../../constructs/index.ts')
  const layout = layoutOf(input, project)
  if (outputDir !== undefined && services.length > 0) refuseWholeLayout(layout)
  const all = layout === undefined ? toManifests(plan) : await published(plan, toManifests(plan), project)
  const { manifests, diagnostics, model, ...counts } = await renderedPart(services, plan, compiled, all)
  const writeAll = async (folder: string): Promise<readonly WrittenCounts[]> => {
    if (layout === undefined || services.length > 0)
      return [await writeFiles(workspace, input, plan, manifests, folder)]
    const { writeLayout } = await import('./write-layout.ts')
    const directory = manifest?.folder ?? loaded?.directory ?? workspace.cwd
    return writeLayout(workspace, input, project, { plan, manifests, outputDir: folder, directory, layout })
  }
  const written = outputDir === undefined ? undefined : sumOf(await writeAll(outputDir))
  return {
    kind: 'rendered',
    diagnostics,
    manifests,
    get report() {
      return lossReport(model, diagnostics)
    },
    ...counts,
    ...(written && { written }),
  }
}

/** Throws a UsageError for a layout whose files always have the objects of all services. */
function refuseWholeLayout(layout: LayoutName | undefined): void {
  if (layout === undefined || layout === 'plain') return
  throw new UsageError(`the layout \`${layout}\` writes all services, not only those that are named`, {
    hint: 'leave out the names of the services, or add `--layout plain`',
  })
}

/** Throws a UserError if one file of the folder has all objects, because the objects would then be there twice. */
async function refuseSingleFile(folder: string, shown: string): Promise<void> {
  const [{ readLock }, { SINGLE_FILE }] = await Promise.all([
    import('../../gitops/repository/tree/change.ts'),
    import('../../gitops/repository/layout/layout.ts'),
  ])
  if (!readLock(folder, shown)?.files.has(SINGLE_FILE)) return
  throw new UserError(`\`${shown}\` has the objects of all services in \`${SINGLE_FILE}\``, {
    hint: 'leave out the names of the services, or name another folder with `--output-dir`',
  })
}

const sumOf = (all: readonly WrittenCounts[]): WrittenCounts => {
  const sum = (key: keyof WrittenCounts) => all.reduce((total, one) => total + one[key], 0)
  return { written: sum('written'), removed: sum('removed'), unchanged: sum('unchanged') }
}

/** Writes one file per object, plus the files that the format requires. */
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
  if (services.length > 0) await refuseSingleFile(resolve(cwd, outputDir), outputDir)
  return writeOutput(resolve(cwd, outputDir), outputDir, {
    application: plan.environment.name,
    sources: sourcesOf(manifests),
    files: toFiles(manifests, format),
    index: format === 'kustomize',
    // The objects of services that were not selected must stay.
    keepOthers: services.length > 0,
    takeOver,
  })
}

/**
 * Returns the layout to write. For a published environment, that is the layout that `publish` would commit, unless a
 * format is requested. An overlay is useless without its base, so its built result is written in plain layout instead.
 * Undefined if the format alone determines the files.
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
