import { type KubernetesObject, templateOf } from '../../../constructs/manifest.ts'
import { at, changed, eachMap, type JsonMap, listAt } from '../../agents/json-values.ts'
import type { ImageEntry } from './kustomization.ts'
import type { ObjectPair, Transformer } from './transformer.ts'

interface Reference {
  readonly name: string
  readonly tag?: string
  readonly digest?: string
}

/**
 * Returns the `images` entries, for image names that get the same new reference in all objects. Omits entries that
 * would change other images of the wanted objects.
 */
export function imagesBetween(pairs: readonly ObjectPair[], wanted: readonly KubernetesObject[]): Transformer {
  const references = new Map<string, Set<string>>()
  for (const [before, after] of pairs) {
    const next = new Map(containersOf(after).map(container => [container['name'], container['image']]))
    for (const { name, image } of containersOf(before)) {
      const wants = next.get(name)
      const old = readImage(image)?.name
      if (old === undefined || typeof wants !== 'string' || wants === image) continue
      references.set(old, new Set([...(references.get(old) ?? []), wants]))
    }
  }
  const all = [...pairs.flat(), ...wanted]
  const images = [...references]
    .flatMap(([name, found]) => (found.size === 1 ? toEntry(name, readImage([...found][0])) : []))
    .filter(entry => isExact(entry, all, wanted))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return { fields: { images }, apply: object => withImages(object, images) }
}

/** Returns an object with the `images` entries applied; each entry has a tag or a digest. */
export function withImages(object: KubernetesObject, images: readonly ImageEntry[]): KubernetesObject {
  if (images.length === 0) return object
  return changed(object, copy => {
    for (const entry of images)
      for (const container of containersOf(copy)) container['image'] = replaced(container['image'], entry)
  })
}

function toEntry(name: string, wants: Reference | undefined): readonly ImageEntry[] {
  // A tag can be replaced, but not removed.
  if (!wants || (wants.tag === undefined && wants.digest === undefined)) return []
  return [
    {
      name,
      ...(wants.name !== name && { newName: wants.name }),
      ...(wants.tag !== undefined && { newTag: wants.tag }),
      ...(wants.digest !== undefined && { digest: wants.digest }),
    },
  ]
}

/**
 * True if an entry leaves the wanted objects unchanged. kustomize treats the name in an entry as the start of a regular
 * expression, in which dots match any character.
 */
function isExact(entry: ImageEntry, all: readonly KubernetesObject[], wanted: readonly KubernetesObject[]): boolean {
  const pattern = new RegExp(`^${entry.name}(:[\\w.{}-]*)?(@\\w+:[\\w.{}-]*)?$`)
  const images = all.flatMap(containersOf).map(({ image }) => image)
  if (
    images.some(image => typeof image === 'string' && pattern.test(image) !== (readImage(image)?.name === entry.name))
  )
    return false
  // Newer versions of kustomize also change image volumes.
  if (all.flatMap(imageVolumesOf).some(reference => pattern.test(reference))) return false
  return wanted.flatMap(containersOf).every(({ image }) => replaced(image, entry) === image)
}

function replaced(image: unknown, { name, newName = name, newTag, digest }: ImageEntry): unknown {
  if (readImage(image)?.name !== name) return image
  return `${newName}${newTag === undefined ? '' : `:${newTag}`}${digest === undefined ? '' : `@${digest}`}`
}

/** Parses an image reference. Undefined for references that kustomize may parse differently. */
function readImage(image: unknown): Reference | undefined {
  const found = /^([a-z0-9._-]+(?::\d+(?=\/))?(?:\/[a-z0-9._-]+)*)(?::([\w.-]+))?(?:@(sha256:[a-f0-9]+))?$/.exec(
    String(image),
  )
  const [, name, tag, digest] = found ?? []
  if (name === undefined) return undefined
  return { name, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) }
}

/** Returns all containers at any depth, as kustomize finds them. */
function containersOf(object: unknown): readonly JsonMap[] {
  const found: JsonMap[] = []
  eachMap(
    object,
    (map, key) => void (['containers', 'initContainers'].includes(key) && 'image' in map && found.push(map)),
  )
  return found
}

function imageVolumesOf(object: KubernetesObject): readonly string[] {
  const volumes = listAt(templateOf(object), 'spec', 'volumes')
  const found = volumes.map(volume => at(volume, 'image', 'reference'))
  return found.filter(reference => typeof reference === 'string')
}
