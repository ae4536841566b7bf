import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { shownPlace } from '../../../compiler/text/source.ts'
import { entry, get, type Tree } from '../../../compiler/text/tree.ts'
import type { KubernetesObject, Manifest } from '../../../constructs/manifest.ts'
import { nameOf } from '../../../environment/plan/desired-state.ts'
import { recordedFiles } from '../../../project/lock.ts'
import { isForced, withForce, withoutForce } from '../../repository/force.ts'
import { obstacleTo } from '../../repository/in-place.ts'
import { buildFolder } from '../../repository/layout/build.ts'
import { KUSTOMIZATION } from '../../repository/layout/kustomization.ts'
import { idOf, objectsOf } from '../../repository/manifest-files.ts'
import type { PublishedFolder } from '../../repository/published-folder.ts'
import type { RepositoryReader } from '../../repository/tree/repository-reader.ts'

/** An object that the controllers must delete and create again. */
export interface Replacement {
  /** Kind and name, such as `service/worker`. */
  readonly object: string
  /** Position in the Compose files, such as `compose.yaml:5:3`. */
  readonly place: string
  readonly reason: string
}

/**
 * Compares the objects in the repository with the new objects. Returns the manifests with replacement annotations on
 * the objects that cannot change in place; undefined if no object needs them. Existing annotations stay as long as
 * nothing else changes. `tree` is the model of the Compose files, which has the positions of the objects. Throws a
 * UserError for a change that would lose data.
 */
export async function withReplacements(
  manifests: readonly Manifest[],
  folders: readonly PublishedFolder[],
  there: RepositoryReader,
  tree: Tree,
): Promise<{ readonly manifests: readonly Manifest[]; readonly replaced: readonly Replacement[] } | undefined> {
  const before = await objectsThere(folders, there, manifests.length)
  if (!before) return undefined
  const old = new Map(before.objects.map(object => [idOf(object), object]))
  const found = manifests.map(manifest => {
    const present = old.get(idOf(manifest.object))
    return { manifest, present, obstacle: present && obstacleTo(present, manifest.object) }
  })
  refuseLosses(found, tree)
  const replaced = found.flatMap(({ manifest, obstacle }): readonly Replacement[] =>
    obstacle
      ? [{ object: nameOf(manifest.object), place: placeOf(tree, manifest.source), reason: obstacle.reason }]
      : [],
  )
  if (replaced.length > 0)
    return {
      replaced,
      manifests: found.map(({ manifest, obstacle }) => (obstacle ? withForce(manifest) : manifest)),
    }
  const isKept = ({ manifest, present }: (typeof found)[number]) =>
    present !== undefined && isForced(present) && manifest
  const hasOnlyMarks = before.isWhole && found.every(one => !one.present || isSameButMarks(one.present, one.manifest))
  if (!hasOnlyMarks || !found.some(isKept)) return undefined
  return { replaced, manifests: found.map(one => (isKept(one) ? withForce(one.manifest) : one.manifest)) }
}

/** Returns true if two objects differ only in replacement annotations and in the order of their keys. */
const isSameButMarks = (present: KubernetesObject, { object }: Manifest): boolean =>
  isDeepStrictEqual(withoutForce(present), JSON.parse(JSON.stringify(object)))

function refuseLosses(
  found: readonly { readonly manifest: Manifest; readonly obstacle: ReturnType<typeof obstacleTo> }[],
  tree: Tree,
): void {
  const refused = found.filter(({ obstacle }) => obstacle?.way === 'refuse')
  if (refused.length === 0) return
  const [first] = refused as [(typeof refused)[0]] // one is there
  throw new UserError(
    `\`${nameOf(first.manifest.object)}\` cannot be changed as the files require; nothing was published`,
    {
      notes: refused.map(
        ({ manifest: { object, source }, obstacle }) =>
          `${placeOf(tree, source, obstacle!.option)}: ${nameOf(object)}: ${obstacle!.reason}`,
      ),
      hint: 'keep its settings, or rename the volume; to discard its data, delete the claim in the cluster and its file in the repository',
    },
  )
}

/**
 * Returns the position of an object's source (`compose.yaml#volumes.data`) in the Compose files, such as
 * `compose.yaml:8:5`; with `option`, the position of this option of the volume. Returns the source itself if it has no
 * position.
 */
function placeOf(tree: Tree, source: string, option?: string): string {
  const [section = '', ...names] = source.slice(source.indexOf('#') + 1).split('.')
  const members = get(tree, section)
  // A name may contain dots, and a key may follow it.
  const lengths = names.map((_, index) => names.length - index)
  const found = lengths.map(length => entry(members, names.slice(0, length).join('.'))).find(one => one !== undefined)
  const span = (option && get(found?.value, 'driver_opts', option)?.span) || found?.key
  return span ? shownPlace(span) : source
}

/**
 * Returns the existing objects from the files that would change; `isWhole` is true if no object is added or removed.
 * Returns all existing objects if they have to be built with kustomize. Undefined if nothing can be compared. `count`
 * is the number of new objects.
 */
async function objectsThere(
  folders: readonly PublishedFolder[],
  there: RepositoryReader,
  count: number,
): Promise<{ readonly objects: readonly KubernetesObject[]; readonly isWhole: boolean } | undefined> {
  const [own] = folders
  const lock = own && there.lock(own.path)
  if (!own || !lock) return undefined
  const read = (folder: string, file: string) => there.read(posix.join(folder, file))
  const isOverlay = folders.length > 1
  const differing = folders.flatMap(({ path, output }) =>
    [...output.files].flatMap(([file, text]) => {
      const present = read(path, file)
      return present === text ? [] : [{ path, file, present }]
    }),
  )
  const removed = [...recordedFiles(lock)].filter(file => !own.output.files.has(file))
  if (differing.length === 0 && removed.length === 0) return undefined
  const built = isOverlay || read(own.path, KUSTOMIZATION) !== own.output.files.get(KUSTOMIZATION)
  try {
    const objects = built
      ? await buildFolder(own.path, there.read)
      : await objectsOf(
          new Map([...differing.map(({ file }) => file), ...removed].map(file => [file, read(own.path, file) ?? ''])),
        )
    const isSameFiles = removed.length === 0 && differing.every(({ present }) => present !== undefined)
    return objects && { objects, isWhole: built ? objects.length === count : isSameFiles }
  } catch (error) {
    // The files were edited by hand and cannot be read. This is reported when the edits would be lost.
    if (error instanceof UserError) return undefined
    throw error
  }
}
