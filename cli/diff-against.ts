import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { count, failureSummary } from '../compiler/diagnostics/render/summary.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../constructs/manifest.ts'
import { manifestsOf } from '../environment/part.ts'
import { buildFolder } from '../gitops/layout/build.ts'
import { KUSTOMIZATION } from '../gitops/layout/kustomization.ts'
import type { Context } from './command.ts'
import { compileFiles } from './compile-files.ts'
import type { DeployingValues } from './deploy-options.ts'
import type { Compared } from './diff-application.ts'
import { idOf, objectsOf } from './manifest-files.ts'
import { including, partOf } from './named-services.ts'
import { openProject } from './open-project.ts'
import { forController } from './publish/for-controllers.ts'
import { objectChanges } from './publish/object-changes.ts'
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
  const before = await objectsAt(resolve(io.cwd, path), path)
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

const HINT = 'name a folder or file that `devctl render` wrote'

/** The objects of a file or a folder; what a folder with a kustomization builds to, as far as devctl writes them. */
async function objectsAt(path: string, shown: string): Promise<readonly KubernetesObject[]> {
  const folder = path.split(sep).join('/')
  if (textAt(`${folder}/${KUSTOMIZATION}`) === undefined) return objectsOf(readTexts(path, shown))
  const built = await buildFolder(folder, textAt)
  if (built) return built
  throw new UserError(
    `devctl cannot build \`${shown}\`: its kustomization, or one that it names, is not as devctl writes them`,
    {
      hint: `compare with what kustomize builds: \`kubectl kustomize ${shown} > built.yaml\`, \`--against built.yaml\``,
    },
  )
}

/** The text of a file; undefined where there is none that can be read. */
function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The texts of a file, or of the files of a folder and those below it. */
function readTexts(path: string, shown: string): ReadonlyMap<string, string> {
  try {
    const files = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' })
          .filter(file => /\.(ya?ml|json)$/.test(file))
          .sort()
          .map(file => join(path, file))
      : [path]
    return new Map(files.map(file => [file, readFileSync(file, 'utf8')]))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // only node:fs throws here
    throw new UserError(`cannot read \`${shown}\`: ${code}`, { hint: HINT })
  }
}
