import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { count, failureSummary } from '../compiler/diagnostics/render/summary.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../constructs/manifest.ts'
import { differencesOf } from '../environment/comparison.ts'
import { type ObjectDiff, valueDiff } from '../environment/diff.ts'
import { nameOf } from '../environment/wanted.ts'
import type { Context } from './command.ts'
import { compileFiles } from './compile-files.ts'
import type { DeployingValues } from './deploy-options.ts'
import type { Compared } from './diff-application.ts'
import { printDiagnostics } from './report.ts'

/** Compares what `render` would print with the manifests at a path, without a cluster. Undefined after errors, which are printed. Throws a UserError for a path without manifests. */
export async function diffAgainst(
  { io, logLevel }: Context,
  options: DeployingValues,
  path: string,
): Promise<Compared | undefined> {
  const { plan, diagnostics } = await compileFiles(io, [], options, options)
  printDiagnostics(diagnostics, io, logLevel)
  if (!plan) {
    if (count(diagnostics).error > 0) io.stderr.write(`${failureSummary(diagnostics, 'nothing was compared')}\n`)
    return undefined
  }
  const before = new Map((await readManifests(resolve(io.cwd, path), path)).map(object => [idOf(object), object]))
  const { toManifests } = await import('../constructs/index.ts')
  const diffs: ObjectDiff[] = []
  let unchanged = 0
  for (const { object, source } of toManifests(plan)) {
    const old = before.get(idOf(object))
    before.delete(idOf(object))
    const base = { object: nameOf(object), source }
    if (!old) {
      diffs.push({ ...base, action: 'create', values: [] })
      continue
    }
    const values = differencesOf(old, object).map(difference => valueDiff(difference, old))
    if (values.length === 0) unchanged++
    else diffs.push({ ...base, action: 'update', values })
  }
  const gone = [...before.values()].map(
    (object): ObjectDiff => ({
      action: 'delete',
      object: nameOf(object),
      values: [],
      consequence: 'the files do not make it any more',
    }),
  )
  return { diffs: [...diffs, ...gone], unchanged }
}

const idOf = ({ apiVersion, kind, metadata }: KubernetesObject): string =>
  `${apiVersion.split('/')[0]} ${kind} ${metadata.namespace ?? ''} ${metadata.name}`

/** The objects in a file, or in the files of a folder and those below it. */
async function readManifests(path: string, shown: string): Promise<readonly KubernetesObject[]> {
  const { loadAll, YAMLException } = await import('js-yaml')
  const objects: KubernetesObject[] = []
  try {
    for (const file of filesAt(path)) {
      try {
        for (const document of loadAll(readFileSync(file, 'utf8'))) objects.push(...objectsIn(document))
      } catch (error) {
        if (!(error instanceof YAMLException)) throw error
        throw new UserError(`\`${file}\` is no YAML: ${error.reason}`)
      }
    }
  } catch (error) {
    if (error instanceof UserError) throw error
    const { code } = error as NodeJS.ErrnoException // only node:fs throws here
    throw new UserError(`cannot read \`${shown}\`: ${code}`, {
      hint: 'name a folder or file that `devctl render` wrote',
    })
  }
  if (objects.length > 0) return objects
  throw new UserError(`there are no manifests in \`${shown}\``, {
    hint: 'name a folder or file that `devctl render` wrote',
  })
}

function filesAt(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.(ya?ml|json)$/.test(file) && !/(^|\/)kustomization\.ya?ml$/.test(file))
    .sort()
    .map(file => join(path, file))
}

/** The objects of a document: itself, or the items of a list. What is no object of Kubernetes is none. */
function objectsIn(document: unknown): readonly KubernetesObject[] {
  if (typeof document !== 'object' || document === null || !('kind' in document) || !('apiVersion' in document))
    return []
  if (document.kind === 'List' && 'items' in document && Array.isArray(document.items))
    return document.items.flatMap(objectsIn)
  return 'metadata' in document ? [document as KubernetesObject] : [] // it has the fields that all have
}
