import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { kindOfFile } from '../../compiler/manifest/kind.ts'
import { composeFileIn } from '../../project/names/environment-name.ts'
import { MANIFEST_NAMES } from '../../project/names/nearest-manifests.ts'
import type { Workspace } from '../../project/workspace.ts'
import { compileIn, type KnownProject } from './known-project.ts'

/** A file that is open in an editor. */
export interface EditedFile {
  /** Absolute path. */
  readonly path: string
  readonly text: string
}

/** Project that a file belongs to, and the kind of the file. */
export interface FileInProject {
  readonly kind: 'manifest' | 'compose'
  readonly project: KnownProject
}

/**
 * Compiles the project that a file belongs to. Searches the folders from a root of the editor down to the file, and
 * takes the first project that reads the file, or that has an environment whose Compose files include the file. If
 * there is none, compiles the file itself. Returns undefined if the file is neither a manifest nor a Compose file.
 */
export async function projectOf(
  { path, text }: EditedFile,
  roots: readonly string[],
  workspace: Workspace,
): Promise<FileInProject | undefined> {
  for (const folder of candidates(path, roots)) {
    const project = await compileIn(folder, {}, workspace)
    const { manifest } = project.compiled
    const own = manifest && !manifest.automatic ? resolve(folder, manifest.path) : undefined
    if (own === path || (own === undefined && isManifestName(path) && project.files.has(path)))
      return { kind: 'manifest', project }
    if (project.files.has(path) && isYaml(path)) return { kind: 'compose', project }
    const environment = [...(manifest?.environments.values() ?? [])].find(({ compose }) =>
      compose.some(({ value }) => resolve(manifest!.folder, value) === path),
    )
    if (environment) {
      const loading = { environment: environment.key }
      return { kind: 'compose', project: await compileIn(folder, loading, workspace) }
    }
  }
  return ofFile({ path, text }, workspace)
}

/**
 * Compiles a file that no project reads. A file such as `compose.test.yaml` is merged over the Compose file in the same
 * folder. Undefined if the file is neither a manifest nor a Compose file.
 */
async function ofFile({ path, text }: EditedFile, workspace: Workspace): Promise<FileInProject | undefined> {
  const folder = dirname(path)
  const kind = kindOfFile(text, path)
  if (!isYaml(path) || (!hasOwnName(path) && !/^["']?services["']?\s*:/m.test(text))) return undefined
  const base = composeFileIn(folder)
  const isOver = kind === 'compose' && base !== undefined && /^(?:docker-)?compose\./.test(basename(path))
  const file = isOver && join(folder, base) !== path ? [join(folder, base), path] : [path]
  return { kind, project: await compileIn(folder, { file }, workspace) }
}

/** Lists the folders with a manifest or a Compose file, from a root of the editor down to the folder of a file. */
function candidates(path: string, roots: readonly string[]): readonly string[] {
  const own = dirname(path)
  const root = roots.filter(one => path.startsWith(`${one}/`)).sort((a, b) => a.length - b.length)[0] ?? own
  const folders: string[] = []
  for (let folder = own; ; folder = dirname(folder)) {
    folders.push(folder)
    if (folder === root || folder === dirname(folder)) break
  }
  if (basename(root) === '.devctl') folders.push(dirname(root))
  return folders.reverse().filter(hasProject)
}

const hasProject = (folder: string): boolean =>
  MANIFEST_NAMES.some(name => existsSync(join(folder, name))) || composeFileIn(folder) !== undefined

const isManifestName = (path: string): boolean => /^devctl\.ya?ml$/.test(basename(path))
const hasOwnName = (path: string): boolean => /(?:compose|devctl)[^/]*$/.test(basename(path))
const isYaml = (path: string): boolean => /\.ya?ml$/.test(path)
