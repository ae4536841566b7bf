import { statSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { readFile } from '../../adapters/files/read-file.ts'
import { REMOTE_FILE } from '../../compiler/compose/load/compose-files/remote-file.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { kindOfFile } from '../../compiler/manifest/kind.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { get, isMap, isScalar, isSeq, type Tree } from '../../compiler/text/tree.ts'
import type { LoadInput } from '../../project/input.ts'
import { composeFilesIn } from '../../project/names/environment-name.ts'
import { nearestManifests } from '../../project/names/nearest-manifests.ts'
import { namedFiles, projectFolder } from '../../project/project-folder.ts'
import type { Workspace } from '../../project/workspace.ts'

/** Names in the files of a project. */
export interface ProjectNames {
  /** Services, with a short description. */
  readonly services: ReadonlyMap<string, string>
  readonly profiles: readonly string[]
  /** Development containers of the manifest. */
  readonly developments: readonly string[]
  /** Environments of the manifest, with the context and namespace that they name. */
  readonly environments: ReadonlyMap<string, NamedTarget>
  /** NamedTarget at the top level of the manifest. */
  readonly destination: NamedTarget
}

export interface NamedTarget {
  readonly context?: string
  readonly namespace?: string
}

/** Largest file that is read, in bytes, since the user waits for the answer. */
const MOST = 1 << 20
const MOST_FILES = 50

/**
 * Reads the names in the files that a command would load. Files are only parsed: variables are not substituted, and
 * nothing is checked, because the whole compiler takes longer than a user waits. Files that cannot be read are left
 * out.
 */
export function readNames(workspace: Workspace, loading: LoadInput): ProjectNames {
  const manifest = manifestOf(workspace, loading)
  const environment = get(manifest?.tree, 'environments', loading.environment ?? '')
  const files = new Files()
  for (const path of composeFiles(workspace, loading, manifest)) files.add(path)
  if (manifest) for (const path of textsOf(get(environment, 'compose'))) files.add(resolve(manifest.folder, path))
  return {
    services: files.services,
    profiles: [...files.profiles].sort(),
    developments: keysOf(get(manifest?.tree, 'dev')),
    environments: new Map(
      keysOf(get(manifest?.tree, 'environments')).map(name => [
        name,
        destinationOf(get(manifest?.tree, 'environments', name)),
      ]),
    ),
    destination: destinationOf(manifest?.tree),
  }
}

interface Manifest {
  readonly folder: string
  readonly tree: Tree
  /** True if `-f` names Compose files, so that those of the manifest do not count. */
  readonly namesCompose: boolean
}

/** Returns the manifest that `openProject` reads. */
function manifestOf(workspace: Workspace, { file, environment }: LoadInput): Manifest | undefined {
  const named = file?.map(path => resolve(workspace.cwd, path)) ?? []
  const own = named.find(path => kindOfFile(textOf(path) ?? '', path) === 'manifest')
  if (own === undefined && file && environment === undefined) return undefined
  const from = named[0] === undefined ? workspace.cwd : dirname(named[0])
  const path = own ?? nearestManifests(from, file !== undefined)?.[0]
  const tree = path === undefined ? undefined : treesOf(path)[0]
  if (path === undefined || tree === undefined) return undefined
  const folder = dirname(path)
  return {
    folder: basename(folder) === '.devctl' ? dirname(folder) : folder,
    tree,
    namesCompose: own === undefined && file !== undefined,
  }
}

function composeFiles(workspace: Workspace, loading: LoadInput, manifest: Manifest | undefined): readonly string[] {
  const named = namedFiles(workspace, loading).map(path => resolve(workspace.cwd, path))
  if (!manifest || manifest.namesCompose) {
    if (named.length > 0) return named
    const folder = projectFolder(workspace, loading, { namesCompose: true })
    return (ofDotenv(folder) ?? composeFilesIn(folder)).map(path => resolve(folder, path))
  }
  const deploy = get(manifest.tree, 'deploy')
  const listed = composeOf(get(deploy, 'compose'))
  if (listed.length > 0) return listed.map(path => resolve(manifest.folder, path))
  // With commands alone, no Compose file is deployed.
  if (isSeq(deploy) || get(deploy, 'commands')) return []
  return composeFilesIn(manifest.folder).map(path => resolve(manifest.folder, path))
}

/** Returns the files of COMPOSE_FILE in the `.env` file of a folder; undefined if it names none. */
function ofDotenv(folder: string): readonly string[] | undefined {
  const [, value] =
    /^\s*(?:export\s+)?COMPOSE_FILE\s*=\s*["']?([^"'#\s]+)/m.exec(textOf(join(folder, '.env')) ?? '') ?? []
  return value?.split(delimiter)
}

/** Returns the files of `deploy.compose`: a text, an object with `file`, or a list of these. */
function composeOf(tree: Tree | undefined): readonly string[] {
  if (isSeq(tree)) return tree.items.flatMap(composeOf)
  return textsOf(isMap(tree) ? get(tree, 'file') : tree)
}

/** Compose files with the files that they include. */
class Files {
  readonly services = new Map<string, string>()
  readonly profiles = new Set<string>()
  readonly #seen = new Set<string>()

  add(path: string): void {
    if (this.#seen.has(path) || this.#seen.size >= MOST_FILES) return
    this.#seen.add(path)
    for (const tree of treesOf(path)) {
      const services = get(tree, 'services')
      if (isMap(services)) for (const [name, { value }] of services.entries) this.#addService(name, value)
      const included = get(tree, 'include')
      if (isSeq(included)) for (const item of included.items) this.#include(item, dirname(path))
    }
  }

  #addService(name: string, service: Tree): void {
    // Another name is an error, and might be dangerous in a command line.
    if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) return
    const profiles = textsOf(get(service, 'profiles'))
    for (const profile of profiles) this.profiles.add(profile)
    const image = textsOf(get(service, 'image'))[0] ?? (get(service, 'build') ? 'built from source' : undefined)
    const parts = [image, ...(profiles.length > 0 ? [`profile ${profiles.join(', ')}`] : [])]
    this.services.set(name, parts.filter(Boolean).join('; ') || (this.services.get(name) ?? ''))
  }

  #include(item: Tree, folder: string): void {
    for (const path of textsOf(isMap(item) ? get(item, 'path') : item))
      if (!REMOTE_FILE.test(path)) this.add(resolve(folder, path))
  }
}

function textOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  // Reading a pipe would take its content from the command.
  if (!found?.isFile() || found.size > MOST) return undefined
  const content = readFile(path)
  return content.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
}

function treesOf(path: string): readonly Tree[] {
  const text = textOf(path)
  const documents = text === undefined ? [] : parseYaml(new SourceFile(path, text), new Reporter())
  return documents?.flatMap(({ tree }) => tree ?? []) ?? []
}

function destinationOf(tree: Tree | undefined): NamedTarget {
  const [context] = textsOf(get(tree, 'context'))
  const [namespace] = textsOf(get(tree, 'namespace'))
  return { ...(context && { context }), ...(namespace && { namespace }) }
}

const keysOf = (tree: Tree | undefined): readonly string[] => (isMap(tree) ? [...tree.entries.keys()] : [])

/** Returns a text, or the texts of a list; none that use variables. */
function textsOf(tree: Tree | undefined): readonly string[] {
  const all = isSeq(tree) ? tree.items : tree ? [tree] : []
  return all.filter(isScalar).flatMap(({ value }) => (typeof value === 'string' && !value.includes('$') ? [value] : []))
}
