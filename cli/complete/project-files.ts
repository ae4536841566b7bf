import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { REMOTE_FILE } from '../../compiler/compose/load/compose-files/remote-file.ts'
import { kindOfFile } from '../../compiler/manifest/kind.ts'
import { get, isMap, isScalar, isSeq, type Tree } from '../../compiler/text/tree.ts'
import { type Boundary, boundaryOf } from '../../project/boundary.ts'
import type { LoadInput } from '../../project/input.ts'
import { composeFilesIn } from '../../project/names/environment-name.ts'
import { nearestManifests } from '../../project/names/nearest-manifests.ts'
import { namedFiles, projectFolder } from '../../project/project-folder.ts'
import type { Workspace } from '../../project/workspace.ts'
import { BoundedFiles } from './bounded-files.ts'

/** Names in the files of a project. */
export interface ProjectNames {
  /** Services, with a short description. */
  readonly services: ReadonlyMap<string, string>
  readonly profiles: readonly string[]
  /** Development containers of the manifest. */
  readonly developments: readonly string[]
  /** Environments of the manifest, with the context and namespace that they name. */
  readonly environments: ReadonlyMap<string, NamedTarget>
  /** Context and namespace at the top level of the manifest. */
  readonly destination: NamedTarget
}

export interface NamedTarget {
  readonly context?: string
  readonly namespace?: string
}

/**
 * Reads the names in the files that a command would load. Files are only parsed: variables are not substituted, and
 * nothing is checked, because the whole compiler takes longer than a user waits. Files that cannot be read, or that are
 * outside the project, are left out.
 */
export function readNames(workspace: Workspace, loading: LoadInput): ProjectNames {
  const files = new BoundedFiles()
  const manifest = manifestOf(workspace, loading, files)
  const boundary = boundaryFor(workspace, loading, manifest?.namesCompose === false ? manifest.folder : undefined)
  const environment = get(manifest?.tree, 'environments', loading.environment ?? '')
  const compose = new ComposeFiles(files, boundary)
  for (const path of composeFiles(workspace, loading, manifest, path => files.textOf(path, boundary))) compose.add(path)
  if (manifest) for (const path of textsOf(get(environment, 'compose'))) compose.add(resolve(manifest.folder, path))
  return {
    services: compose.services,
    profiles: [...compose.profiles].sort(),
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

/**
 * Returns the boundary of the project in `folder`, outside of which no file is read. If `folder` is undefined,
 * `loading` selects the project.
 */
const boundaryFor = (workspace: Workspace, loading: LoadInput, folder: string | undefined): Boundary =>
  boundaryOf(workspace, folder === undefined ? loading : { ...loading, projectDirectory: folder }, {
    namesCompose: false,
  })

interface Manifest {
  readonly folder: string
  readonly tree: Tree
  /** True if `-f` names Compose files, which replace the Compose files of the manifest. */
  readonly namesCompose: boolean
}

/** Returns the manifest that `openProject` would read; undefined if there is none or it cannot be read. */
function manifestOf(workspace: Workspace, loading: LoadInput, files: BoundedFiles): Manifest | undefined {
  const { file, environment } = loading
  const named = file?.map(path => resolve(workspace.cwd, path)) ?? []
  const textOf = (path: string) => files.textOf(path, boundaryFor(workspace, loading, undefined))
  const own = named.find(path => kindOfFile(textOf(path) ?? '', path) === 'manifest')
  if (own === undefined && file && environment === undefined) return undefined
  const from = named[0] === undefined ? workspace.cwd : dirname(named[0])
  const path = own ?? nearestManifests(from, file !== undefined)?.[0]
  if (path === undefined) return undefined
  const inside = dirname(path)
  const folder = basename(inside) === '.devctl' ? dirname(inside) : inside
  const tree = files.treesOf(path, boundaryFor(workspace, loading, folder))[0]
  return tree && { folder, tree, namesCompose: own === undefined && file !== undefined }
}

function composeFiles(
  workspace: Workspace,
  loading: LoadInput,
  manifest: Manifest | undefined,
  read: (path: string) => string | undefined,
): readonly string[] {
  const named = namedFiles(workspace, loading).map(path => resolve(workspace.cwd, path))
  if (!manifest || manifest.namesCompose) {
    if (named.length > 0) return named
    const folder = projectFolder(workspace, loading, { namesCompose: true })
    const ofDotenv = ofComposeFile(read(join(folder, '.env')) ?? '')
    return (ofDotenv ?? composeFilesIn(folder)).map(path => resolve(folder, path))
  }
  const deploy = get(manifest.tree, 'deploy')
  const listed = composeOf(get(deploy, 'compose'))
  if (listed.length > 0) return listed.map(path => resolve(manifest.folder, path))
  // A manifest that only has commands deploys no Compose file.
  if (isSeq(deploy) || get(deploy, 'commands')) return []
  return composeFilesIn(manifest.folder).map(path => resolve(manifest.folder, path))
}

/**
 * Returns the files that COMPOSE_FILE lists in the text of an `.env` file; undefined if the text does not set
 * COMPOSE_FILE.
 */
function ofComposeFile(dotenv: string): readonly string[] | undefined {
  // Many empty lines would take minutes if blanks were matched by `\s`.
  const [, value] = /^[ \t]*(?:export[ \t]+)?COMPOSE_FILE[ \t]*=[ \t]*["']?([^"'#\s]+)/m.exec(dotenv) ?? []
  return value?.split(delimiter)
}

/** Returns the files of `deploy.compose`: a text, an object with `file`, or a list of these. */
function composeOf(tree: Tree | undefined): readonly string[] {
  if (isSeq(tree)) return tree.items.flatMap(composeOf)
  return textsOf(isMap(tree) ? get(tree, 'file') : tree)
}

/** Collects the services and profiles of Compose files and of the files that they include. */
class ComposeFiles {
  readonly services = new Map<string, string>()
  readonly profiles = new Set<string>()
  readonly #seen = new Set<string>()
  readonly #files: BoundedFiles
  readonly #boundary: Boundary

  constructor(files: BoundedFiles, boundary: Boundary) {
    this.#files = files
    this.#boundary = boundary
  }

  add(path: string): void {
    if (this.#seen.has(path)) return
    this.#seen.add(path)
    for (const tree of this.#files.treesOf(path, this.#boundary)) {
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

function destinationOf(tree: Tree | undefined): NamedTarget {
  const [context] = textsOf(get(tree, 'context'))
  const [namespace] = textsOf(get(tree, 'namespace'))
  return { ...(context && { context }), ...(namespace && { namespace }) }
}

const keysOf = (tree: Tree | undefined): readonly string[] => (isMap(tree) ? [...tree.entries.keys()] : [])

/** Returns the text of a scalar, or the texts of a list. Leaves out texts that use variables. */
function textsOf(tree: Tree | undefined): readonly string[] {
  const all = isSeq(tree) ? tree.items : tree ? [tree] : []
  return all.filter(isScalar).flatMap(({ value }) => (typeof value === 'string' && !value.includes('$') ? [value] : []))
}
