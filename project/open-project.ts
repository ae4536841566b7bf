import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { readFile } from '../adapters/files/read-file.ts'
import { statIfFound } from '../adapters/files/stat-if-found.ts'
import { UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
import type { CompilerHost } from '../compiler/host.ts'
import type { DevctlManifest, ManifestEnvironment } from '../compiler/manifest/manifest.ts'
import type { ReadManifest } from '../compiler/manifest/read.ts'
import { foreignFileOf, foreignText } from '../compiler/values/foreign-files.ts'
import { isStream } from '../compiler/values/stream-path.ts'
import { boundaryOf } from './boundary.ts'
import type { TargetOptions } from './contexts/target.ts'
import type { LoadInput } from './input.ts'
import { nearestManifests } from './names/nearest-manifests.ts'
import { manifestNames, workspaceNames } from './names/project-names.ts'
import { createHost, variablesFor } from './node-host.ts'
import type { OpenProject } from './opened-project.ts'
import { namedEnvFiles } from './project-folder.ts'
import type { Workspace } from './workspace.ts'

/** Returns the manifest of a project; undefined if none exists, or if `-f` names Compose files. */
export const manifestOf = ({ manifest, namesCompose }: OpenProject): DevctlManifest | undefined =>
  namesCompose ? undefined : manifest

/** Cluster and namespace that the options and the manifest of a project select; each undefined if they name none. */
export interface ProjectTarget extends TargetOptions {
  readonly context: string | undefined
  readonly namespace: string | undefined
  /** Settings at the top level of the manifest. */
  readonly manifest: TargetOptions
}

/**
 * Returns the cluster and the namespace of a project: the options, otherwise the settings of the environment, which
 * rank like options because an option has selected the environment. The settings at the top level of the manifest are
 * returned separately in `manifest`, because variables of the shell take precedence over them
 * (project/contexts/target.ts). They also apply if `-f` names Compose files and an environment is selected.
 */
export function targetOf(
  project: OpenProject,
  options: { readonly context?: string | undefined; readonly namespace?: string | undefined },
): ProjectTarget {
  const { environment, manifest } = project
  const byEnvironment = environment && `the environment \`${environment.key}\` of the manifest`
  return {
    ...(byEnvironment && {
      setBy: {
        ...(options.context === undefined && { context: byEnvironment }),
        ...(options.namespace === undefined && { namespace: byEnvironment }),
      },
    }),
    context: options.context ?? environment?.context?.value,
    namespace: options.namespace ?? environment?.namespace?.value,
    manifest: { context: manifest?.context?.value, namespace: manifest?.namespace?.value },
  }
}

/**
 * Finds and reads the manifest that the options of a command select: the manifest named by `-f`, otherwise the nearest
 * manifest, unless a Compose file is nearer; otherwise the manifest that the automatic rules generate from a chart or
 * from plain manifests. A project without a manifest costs only a few file name checks. Throws a UsageError for an
 * environment that does not exist.
 */
export async function openProject(workspace: Workspace, loading: LoadInput): Promise<OpenProject> {
  workspace.secrets?.addNames(workspaceNames(workspace, loading))
  refuseMissingFolder(workspace, loading.projectDirectory)
  const stdin = loading.file?.includes('-') ? await workspace.readStdin() : undefined
  const named = loading.file && (await namedManifest(workspace, loading.file, stdin))
  const namesCompose = Boolean(loading.file && !named)
  const found = await readFound(workspace, loading, named, stdin)
  const environment = await environmentOf(loading.environment, found, workspace)
  return {
    ...(found?.manifest && { manifest: found.manifest }),
    ...(environment && { environment }),
    diagnostics: found?.diagnostics ?? [],
    namesCompose,
    ...(found?.secrets && { secrets: found.secrets }),
    ...(stdin && { stdin }),
  }
}

/**
 * Throws a UserError if `--project-directory` is not an existing folder, because no path in the files could be
 * resolved.
 */
function refuseMissingFolder(workspace: Workspace, folder: string | undefined): void {
  if (folder === undefined) return
  const found = statIfFound(resolve(workspace.cwd, folder))
  if (found?.isDirectory()) return
  throw new UserError(found ? `\`${folder}\` is not a folder` : `the folder \`${folder}\` does not exist`, {
    hint: '`--project-directory` names the folder that relative paths in the files are resolved against',
  })
}

/**
 * Throws a UserError for a file of `-f` that does not exist. Used by commands that send requests to the cluster before
 * they read the Compose files.
 */
export function refuseMissingFiles({ cwd }: Pick<Workspace, 'cwd'>, files: readonly string[] = []): void {
  const missing = files.find(path => path !== '-' && !existsSync(resolve(cwd, path)))
  if (missing !== undefined)
    throw new UserError(`the file \`${missing}\` does not exist`, { hint: '`-f` names a manifest or Compose files' })
}

/**
 * Returns the manifest among the files of `-f`, recognized by its content. Throws a UsageError if other files are
 * named, too.
 */
async function namedManifest(
  workspace: Workspace,
  files: readonly string[],
  stdin: Uint8Array | undefined,
): Promise<string | undefined> {
  const { kindOfFile } = await import('../compiler/manifest/kind.ts')
  const manifest = files.find(path => {
    const unsaved = workspace.unsaved?.get(resolve(workspace.cwd, path))
    if (typeof unsaved === 'string') return kindOfFile(unsaved, path) === 'manifest'
    const content = path === '-' ? ({ kind: 'file', bytes: stdin! } as const) : readFile(resolve(workspace.cwd, path))
    if (content.kind !== 'file') return false
    const text = new TextDecoder().decode(content.bytes)
    refuseForeign(path, text)
    return kindOfFile(text, path) === 'manifest'
  })
  if (manifest !== undefined && files.length > 1) {
    throw new UsageError(`\`${manifest}\` is a manifest, which cannot be combined with other files`, {
      hint: 'name only the manifest, and the Compose files in its `deploy.compose`',
    })
  }
  return manifest
}

/** Throws a UserError for a file of another tool. */
export function refuseForeign(path: string, text: string): void {
  const file = foreignFileOf(path, text)
  if (file) throw new UserError(foreignText(path, file), { hint: file.hint })
}

async function readFound(
  workspace: Workspace,
  loading: LoadInput,
  named: string | undefined,
  stdin: Uint8Array | undefined,
): Promise<ReadManifest | undefined> {
  if (named !== undefined) return read(workspace, loading, named === '-' ? '-' : resolve(workspace.cwd, named), stdin)
  // `-f compose.yaml` means only the Compose file; a manifest is needed only for an environment.
  if (loading.file && loading.environment === undefined) return undefined
  const first = loading.file?.find(path => !isStream(path))
  const from = first === undefined ? workspace.cwd : dirname(resolve(workspace.cwd, first))
  const manifests = nearestManifests(from, loading.file !== undefined)
  if (manifests === undefined) return undefined
  const [path] = manifests
  if (path === undefined) return automatic(workspace, loading, from)
  const result = await read(workspace, loading, path)
  if (manifests.length === 1) return result
  const { severalCandidates } = await import('../compiler/manifest/automatic.ts')
  const shown = manifests.map(one => relative(workspace.cwd, one))
  return { ...result, diagnostics: [...severalCandidates(shown), ...result.diagnostics] }
}

async function read(workspace: Workspace, loading: LoadInput, path: string, stdin?: Uint8Array): Promise<ReadManifest> {
  const { manifestFolder, readManifest } = await import('../compiler/manifest/read.ts')
  const envFiles = namedEnvFiles(workspace, loading)
  const found = readManifest(
    {
      path,
      workingDirectory: workspace.cwd,
      ...(stdin && { stdin }),
      ...(envFiles && { envFiles: envFiles.map(one => resolve(workspace.cwd, one)) }),
      ...(loading.environment !== undefined && { environment: loading.environment }),
    },
    hostFor(workspace, loading, isStream(path) ? workspace.cwd : manifestFolder(path)),
  )
  workspace.secrets?.add(found.secrets?.values ?? [])
  workspace.secrets?.addPhrases(found.secrets?.phrases ?? [])
  if (found.manifest) workspace.secrets?.addNames(manifestNames(found.manifest, found.secrets))
  return found
}

/**
 * Returns the manifest that the automatic rules generate from the folder devctl runs in. Parent folders are not
 * checked: `k8s` and `charts` are common names.
 */
async function automatic(workspace: Workspace, loading: LoadInput, folder: string): Promise<ReadManifest | undefined> {
  if (workspace.env.COMPOSE_FILE || namesComposeFile(join(folder, '.env'))) return undefined
  const { automaticManifest } = await import('../compiler/manifest/automatic.ts')
  return automaticManifest(folder, hostFor(workspace, loading, folder))
}

/** Returns the host with the files and variables that the manifest of a folder may read. */
function hostFor(workspace: Workspace, loading: LoadInput, folder: string): CompilerHost {
  const own = { ...loading, projectDirectory: folder }
  return createHost({
    ...variablesFor(workspace),
    boundary: boundaryOf(workspace, own, { namesCompose: true }),
    ...(workspace.unsaved && { unsaved: workspace.unsaved }),
  })
}

function namesComposeFile(dotenv: string): boolean {
  const content = readFile(dotenv)
  return (
    content.kind === 'file' &&
    /^[ \t]*(?:export[ \t]+)?COMPOSE_FILE[ \t]*=/m.test(new TextDecoder().decode(content.bytes))
  )
}

async function environmentOf(
  name: string | undefined,
  found: ReadManifest | undefined,
  workspace: Workspace,
): Promise<ManifestEnvironment | undefined> {
  if (name === undefined) return undefined
  const { manifest, diagnostics } = found ?? { diagnostics: [] }
  const environment = manifest?.environments.get(name)
  // Errors of the manifest are reported first, because the environment's definition may be one of them.
  if (environment || diagnostics.some(({ severity }) => severity === 'error')) return environment
  if (!manifest || manifest.automatic) {
    throw new UsageError(`environment \`${name}\` needs a manifest that has \`environments\``, {
      hint: `write \`devctl.yml\` beside the Compose file, with \`environments: {${name}: {namespace: …}}\``,
    })
  }
  const names = [...manifest.environments.keys()]
  const shown =
    manifest.path === '-' ? 'the manifest' : `\`${relative(workspace.cwd, manifest.path) || basename(manifest.path)}\``
  throw new UsageError(`environment \`${name}\` does not exist in ${shown}`, { hint: await hintFor(name, names) })
}

async function hintFor(name: string, names: readonly string[]): Promise<string> {
  if (names.length === 0) return `add \`environments: {${name}: {…}}\` to it`
  const { didYouMean } = await import('../compiler/diagnostics/suggest.ts')
  return didYouMean(name, names) ?? `the environments are ${names.map(one => `\`${one}\``).join(', ')}`
}
