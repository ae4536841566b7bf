import { readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { readFile } from '../adapters/files/read-file.ts'
import { count, failureSummary } from '../compiler/diagnostics/render/summary.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../constructs/manifest.ts'
import type { Compared } from '../operations/diff/diff.ts'
import { buildFolder, type ReadText } from '../operations/gitops/layout/build.ts'
import { KUSTOMIZATION } from '../operations/gitops/layout/kustomization.ts'
import { idOf, objectsOf } from '../operations/gitops/manifest-files.ts'
import { manifestsOf } from '../operations/objects/part.ts'
import { type Boundary, boundaryOf, outsideOf } from '../operations/project/boundary.ts'
import { compileFiles } from '../operations/project/compile-files.ts'
import { including, partOf } from '../operations/project/named-services.ts'
import { openProject } from '../operations/project/open-project.ts'
import { forController } from '../operations/publish/for-controllers.ts'
import { objectChanges } from '../operations/publish/object-changes.ts'
import type { Context } from './command.ts'
import type { DeployingValues } from './deploy-options.ts'
import type { Io } from './io.ts'
import { printDiagnostics } from './report.ts'

/** Compares what `render` would print with the manifests at a path, without a cluster. Undefined after errors, which are printed. Throws a UserError for a path without manifests. */
export async function diffAgainst(
  { io, logLevel }: Context,
  options: DeployingValues & { readonly services: readonly string[] },
  path: string,
): Promise<Compared | undefined> {
  const project = await openProject(io, options)
  const extra = { project, ...including(options.services, project) }
  const compilation = await compileFiles(io, [], options, options, extra)
  const { plan, diagnostics } = compilation
  printDiagnostics(diagnostics, io, logLevel)
  if (!plan) {
    if (count(diagnostics).error > 0) io.stderr.write(`${failureSummary(diagnostics, 'nothing was compared')}\n`)
    return undefined
  }
  const there = resolve(io.cwd, path)
  const isFolder = statSync(there, { throwIfNoEntry: false })?.isDirectory() ?? false
  const boundary = boundaryOf(io, options, project, [isFolder ? there : dirname(there)])
  const before = await objectsAt(there, path, readerOf(io, { ...boundary, named: new Set([there]) }))
  if (before.length === 0) throw new UserError(`there are no manifests in \`${path}\``, { hint: HINT })
  const { toManifests } = await import('../constructs/index.ts')
  const manifests = toManifests(plan)
  // As `render` and `publish` write it.
  const { repository, oci } = project.environment?.publish ?? {}
  const isPublished = repository !== undefined || oci !== undefined
  const all = isPublished ? forController({ plan, manifests }, project) : manifests
  const part = await partOf(options.services, plan, compilation)
  const wanted = part ? manifestsOf(all, part.services) : all
  const ids = new Set(wanted.map(({ object }) => idOf(object)))
  const diffs = objectChanges(part ? before.filter(object => ids.has(idOf(object))) : before, wanted, io.secrets)
  return { diffs, unchanged: wanted.length - diffs.filter(({ action }) => action !== 'delete').length }
}

const OUTSIDE_HINT = 'add `--allow-outside` if you trust these files'
const HINT = 'name a folder or file that `devctl render` wrote'

/**
 * Gives the texts of files, of those outside of `boundary` as it says: a link in a folder of manifests may lead
 * anywhere. Throws a UserError for what may not be read, and for what cannot.
 */
function readerOf({ stderr }: Io, boundary: Boundary): ReadText {
  const told = new Set<string>()
  return path => {
    const outside = outsideOf(path, boundary)
    if (outside?.is === 'refused' || outside?.is === 'system')
      throw new UserError(`\`${outside.path}\` is outside the project and is not read`, { hint: OUTSIDE_HINT })
    if (outside?.is === 'read' && !told.has(outside.path)) {
      told.add(outside.path)
      stderr.write(`warning: \`${outside.path}\` is outside the project; it is read anyway\n`)
    }
    const content = readFile(path)
    if (content.kind === 'unreadable') throw new UserError(`cannot read \`${path}\`: ${content.reason}`, { hint: HINT })
    return content.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
  }
}

/** The objects of a file or a folder; what a folder with a kustomization builds to, as far as devctl writes them. */
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

/** The texts of a file, or of the files of a folder and those below it. */
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
    const { code } = error as NodeJS.ErrnoException // only node:fs throws here
    throw new UserError(`cannot read \`${shown}\`: ${code}`, { hint: HINT })
  }
}
