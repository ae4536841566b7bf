import { join, resolve } from 'node:path'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import { asWritten } from '../../gitops/publish/compile/as-written.ts'
import { compileBase } from '../../gitops/publish/compile/compile-for-repository.ts'
import { foldersOf } from '../../gitops/publish/compile/folders.ts'
import { readmeData } from '../../gitops/publish/readme-data.ts'
import type { LayoutName } from '../../gitops/repository/layout/readme.ts'
import { refuseLinkedFolders } from '../../gitops/repository/tree/linked-folders.ts'
import { type WrittenCounts, writeOutput } from '../../gitops/repository/tree/output-directory.ts'
import { readerOf } from '../../gitops/repository/tree/repository-reader.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { RenderInput } from './input.ts'

interface LaidOut {
  readonly plan: Plan
  readonly manifests: readonly Manifest[]
  readonly layout: LayoutName
  /** Path of the output folder, as the user gave it. */
  readonly outputDir: string
  /** Absolute path of the project's folder. */
  readonly directory: string
}

/**
 * Writes to a local folder the files that `publish` would commit. With overlays, the folder corresponds to the root of
 * the repository, because overlays are useless without their base. Throws a UserError if the files cannot be written.
 */
export async function writeLayout(
  workspace: Workspace,
  input: RenderInput,
  project: OpenProject,
  { plan, manifests, layout, outputDir, directory }: LaidOut,
): Promise<readonly WrittenCounts[]> {
  const { environment } = project
  const application = plan.environment.name
  const said = asWritten(input, { cwd: workspace.cwd, directory: project.manifest?.folder ?? directory })
  const about = readmeData(plan, manifests, project, said)
  const base = layout === 'kustomize' ? await compileBase(workspace, input, application, environment) : undefined
  const named = environment?.publish.path?.value ?? `environments/${environment?.key ?? 'default'}/${application}`
  const root = resolve(workspace.cwd, outputDir)
  const folders = foldersOf(
    { path: layout === 'kustomize' ? named.replace(/\/$/, '') : '.', layout },
    { application, manifests, ...(base && { base }), about, takeOver: input.takeOver ?? false },
    readerOf(root),
  )
  for (const { path } of folders) refuseLinkedFolders(root, outputDir, path)
  return folders.map(({ path, output }) => writeOutput(join(root, path), join(outputDir, path), output))
}
