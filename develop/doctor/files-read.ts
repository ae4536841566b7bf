import { join, relative, sep } from 'node:path'
import { readText } from '../../adapters/files/locked-file.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { compileFiles } from '../../project/compile-files.ts'
import type { LoadInput } from '../../project/input.ts'
import { composeFilesIn, nearestProject } from '../../project/names/environment-name.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'
import { maskedManifest } from './masked.ts'

type File = readonly [path: string, text: string]

/**
 * Returns the manifest with its diagnostics, and all Compose files that a command reads, including override files and
 * files that are included or extended. Values are masked. A file that is not YAML is replaced by a comment. Throws an
 * Error if there is neither a manifest nor a Compose file.
 */
export async function filesRead(
  workspace: Workspace,
  project: OpenProject,
  input: LoadInput,
): Promise<readonly File[]> {
  const found = manifestOf(project)
  const manifest = found && !found.automatic ? found : undefined
  const comments = project.diagnostics.map(({ severity, code, message }) => `# ${severity}[${code}]: ${message}\n`)
  const own: readonly File[] = manifest
    ? [['devctl.yml', comments.join('') + maskedYaml(manifest.path, manifest.shown)]]
    : []
  const folder = manifest?.folder ?? nearestProject(workspace.cwd) ?? workspace.cwd
  const paths = await composeFilesRead(workspace, project, input, folder)
  if (own.length === 0 && paths.length === 0) throw new Error('there is none, and no Compose file')
  return [...own, ...paths.map((path): File => [nameInZip(folder, path), maskedYaml(path, relative(folder, path))])]
}

/**
 * Returns the absolute paths of the Compose files that were read, also before an error. Env files are not among them,
 * because they contain only values.
 */
async function composeFilesRead(
  workspace: Workspace,
  project: OpenProject,
  input: LoadInput,
  folder: string,
): Promise<readonly string[]> {
  const read = new Set<string>()
  const onRead = (path: string) => void read.add(path)
  const compiled = await compileFiles(workspace, [], input, {}, { project, onRead, until: 'loaded' })
  const named = compiled.loaded?.files ?? composeFilesIn(folder).map(one => join(folder, one))
  const others = [...read].filter(path => /\.ya?ml$/i.test(path) && path !== project.manifest?.path)
  return [...new Set([...named, ...others])].filter(path => readText(path) !== undefined)
}

/** Returns the name of a file in the archive, where `parent` stands for `..`. */
const nameInZip = (folder: string, path: string): string =>
  relative(folder, path)
    .split(sep)
    .map(part => (part === '..' ? 'parent' : part))
    .join('/')

function maskedYaml(path: string, shown: string): string {
  const documents = parseYaml(new SourceFile(shown, readText(path) ?? ''), new Reporter()) ?? []
  const trees = documents.flatMap(({ tree }) => (tree ? [tree] : []))
  if (trees.length === 0) return `# ${shown} is empty, or not YAML\n`
  return trees.map(tree => printYaml(maskedManifest(tree))).join('---\n')
}
