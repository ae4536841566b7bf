import { posix } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { KubernetesObject, Manifest } from '../../constructs/manifest.ts'
import type { ObjectDiff } from '../../environment/plan/diff.ts'
import { buildFolder } from '../repository/layout/build.ts'
import { KUSTOMIZATION } from '../repository/layout/kustomization.ts'
import type { LayoutName } from '../repository/layout/readme.ts'
import { idOf, objectsOf } from '../repository/manifest-files.ts'
import type { FolderChange } from '../repository/publication.ts'
import { objectChanges } from './object-changes.ts'

/**
 * Returns the changes that a publish makes, object by object; undefined if the existing files were edited in a way that
 * devctl cannot read.
 */
export async function changedObjects(
  changes: readonly FolderChange[],
  wanted: readonly Manifest[],
  layout: LayoutName,
  secrets: KnownSecrets | undefined,
): Promise<readonly ObjectDiff[] | undefined> {
  const [own] = changes
  if (own && layout !== 'kustomize' && own.before.has(KUSTOMIZATION) && !own.change.writes.has(KUSTOMIZATION))
    return inChangedFiles(own, wanted, secrets)
  const before = await objectsBefore(changes)
  return before && objectChanges(before, wanted, secrets)
}

/**
 * Returns the object changes of a publish that adds and removes no file; undefined if the files cannot be read. Reads
 * only the files that change: most files do not, and reading a hundred files takes longer than the rest of a publish.
 */
async function inChangedFiles(
  { before, change: { writes } }: FolderChange,
  wanted: readonly Manifest[],
  secrets: KnownSecrets | undefined,
): Promise<readonly ObjectDiff[] | undefined> {
  try {
    const old = await objectsOf(new Map([...writes.keys()].map(file => [file, before.get(file) ?? ''])))
    const written = new Set((await objectsOf(writes)).map(idOf))
    return objectChanges(
      old,
      wanted.filter(({ object }) => written.has(idOf(object))),
      secrets,
    )
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/**
 * Returns the objects that the repository has for an application: the result of building the application's own folder,
 * the first in `changes`, with its base. Empty before the first publish; undefined if the files were edited in a way
 * that devctl cannot read.
 */
async function objectsBefore(changes: readonly FolderChange[]): Promise<readonly KubernetesObject[] | undefined> {
  const [own] = changes
  if (!own || own.before.size === 0) return []
  if (own.before.has(KUSTOMIZATION)) {
    const files = new Map(
      changes.flatMap(({ path, before }) => [...before].map(([file, text]) => [posix.join(path, file), text] as const)),
    )
    return buildFolder(own.path, path => files.get(path))
  }
  // Output of `render` without a kustomization.
  try {
    return await objectsOf(own.before)
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}
