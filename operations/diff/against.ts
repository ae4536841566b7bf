import { readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { readFile } from '../../adapters/files/read-file.ts'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import type { BuildEvent } from '../../builds/events.ts'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../../constructs/manifest.ts'
import { manifestsOf } from '../../environment/plan/part.ts'
import { forController } from '../../gitops/publish/compile/for-controllers.ts'
import { objectChanges } from '../../gitops/publish/object-changes.ts'
import { buildFolder, type ReadText } from '../../gitops/repository/layout/build.ts'
import { KUSTOMIZATION } from '../../gitops/repository/layout/kustomization.ts'
import { idOf, objectsOf } from '../../gitops/repository/manifest-files.ts'
import { type Boundary, boundaryOf, outsideOf } from '../../project/boundary.ts'
import { compileFiles } from '../../project/compile-files.ts'
import { including, partOf } from '../../project/names/named-services.ts'
import { openProject } from '../../project/open-project.ts'
import type { LocalContext } from '../../project/session.ts'
import type { ForCluster } from '../deploy/input.ts'
import type { DiffOutcome } from './diff.ts'

/**
 * Compares the output of `render` with the manifests at a path, without a cluster. Throws a UserError if the path has
 * no manifests.
 */
export async function diffAgainst(
  world: Pick<LocalContext<BuildEvent>, 'workspace' | 'on'>,
  input: ForCluster,
  path: string,
): Promise<DiffOutcome> {
  const { workspace, on } = world
  const { services = [] } = input
  const project = await openProject(workspace, input)
  const extra = { project, ...including(services, project) }
  const compilation = await compileFiles(workspace, [], input, input, extra)
  const { plan, diagnostics } = compilation
  on({ type: 'diagnostics', diagnostics })
  if (!plan) return { kind: 'refused', diagnostics }
  const there = resolve(workspace.cwd, path)
  const isFolder = statIfFound(there)?.isDirectory() ?? false
  const boundary = boundaryOf(workspace, input, project, [isFolder ? there : dirname(there)])
  const before = await objectsAt(there, path, readerOf(on, { ...boundary, named: new Set([there]) }))
  if (before.length === 0) throw new UserError(`no manifests in \`${path}\``, { hint: HINT })
  const { toManifests } = await import('../../constructs/index.ts')
  const manifests = toManifests(plan)
  // Uses the form that `render` and `publish` write.
  const { repository, oci } = project.environment?.publish ?? {}
  const isPublished = repository !== undefined || oci !== undefined
  const all = isPublished ? forController({ plan, manifests }, project) : manifests
  const part = await partOf(services, plan, compilation)
  const wanted = part ? manifestsOf(all, part.services) : all
  const ids = new Set(wanted.map(({ object }) => idOf(object)))
  const diffs = objectChanges(part ? before.filter(object => ids.has(idOf(object))) : before, wanted, workspace.secrets)
  const unchanged = wanted.length - diffs.filter(({ action }) => action !== 'delete').length
  return { kind: 'compared', diffs, unchanged, services: undefined }
}

const OUTSIDE_HINT = 'add `--allow-outside` if you trust these files'
const HINT = 'name a folder or file that `devctl render` wrote'

/**
 * Returns a function that returns the text of a file, or undefined if the file does not exist. Files outside `boundary`
 * are read with a warning or refused, because a link in a folder of manifests may lead anywhere. The function throws a
 * UserError for a refused or unreadable file.
 */
function readerOf(on: LocalContext<BuildEvent>['on'], boundary: Boundary): ReadText {
  const told = new Set<string>()
  return path => {
    const outside = outsideOf(path, boundary)
    if (outside?.is === 'refused' || outside?.is === 'system')
      throw new UserError(`\`${outside.path}\` is outside the project and is not read`, { hint: OUTSIDE_HINT })
    if (outside?.is === 'read' && !told.has(outside.path)) {
      told.add(outside.path)
      on({ type: 'warning', text: `\`${outside.path}\` is outside the project; it is read anyway` })
    }
    const content = readFile(path)
    if (content.kind === 'unreadable') throw new UserError(`cannot read \`${path}\`: ${content.reason}`, { hint: HINT })
    return content.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
  }
}

/**
 * Returns the objects of a file or folder. A folder with a kustomization is built first. Throws a UserError for a
 * kustomization that devctl cannot build, because it contains more than devctl itself writes.
 */
async function objectsAt(path: string, shown: string, read: ReadText): Promise<readonly KubernetesObject[]> {
  const folder = path.split(sep).join('/')
  if (read(`${folder}/${KUSTOMIZATION}`) === undefined) return objectsOf(readTexts(path, shown, read))
  const built = await buildFolder(folder, read)
  if (built) return built
  throw new UserError(
    `devctl cannot build \`${shown}\`: its kustomization, or one that it names, is not as devctl writes them`,
    {
      hint: `compare with what kustomize builds: \`kubectl kustomize ${shown} > built.yaml\`, \`--against built.yaml\``,
    },
  )
}

/** Returns the text of a file, or of all manifest files in a folder and its subfolders, by path. */
function readTexts(path: string, shown: string, read: ReadText): ReadonlyMap<string, string> {
  return new Map(filesAt(path, shown).map(file => [file, read(file) ?? '']))
}

function filesAt(path: string, shown: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter(file => /\.(ya?ml|json)$/.test(file))
      .sort()
      .map(file => join(path, file))
  } catch (error) {
    throw new UserError(`cannot read \`${shown}\`: ${reasonOf(error)}`, { hint: HINT })
  }
}
