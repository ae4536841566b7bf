import { shortHash } from '../../../compiler/values/dns-name.ts'
import type { KubernetesObject, Manifest } from '../../../constructs/manifest.ts'
import { printYaml } from '../../../constructs/yaml.ts'
import { changed } from '../../agents/json-values.ts'
import { kustomization, toFiles } from '../tree/files.ts'
import { imagesBetween } from './image-transformer.ts'
import { operationsBetween, printOperations } from './json-patch.ts'
import { KUSTOMIZATION, type Patch, type PatchTarget, printKustomization } from './kustomization.ts'
import { labelsBetween } from './label-transformer.ts'
import { namespaceBetween } from './namespace-transformer.ts'
import { replicasBetween } from './replica-transformer.ts'
import type { ObjectPair, Transformer } from './transformer.ts'

/** Texts of a folder's files. The keys are paths relative to the folder, with `/` as the separator. */
export type FileTexts = ReadonlyMap<string, string>

/** Folder of the patches. Services cannot have this name, so their files cannot conflict. */
const PATCHES = '_patches'

/**
 * Returns the folder of a base. Its name is a hash of its files, so an overlay never gets a base other than the one
 * that it was computed against. Bases with the same files share a folder.
 */
export function toBase(manifests: readonly Manifest[]): { readonly name: string; readonly files: FileTexts } {
  const objects = toFiles(manifests, 'yaml')
  const files = new Map([...objects, [KUSTOMIZATION, kustomization(objects.keys())]])
  const hash = shortHash([...files].map(([path, text]) => `${path}\0${text}\0`).join(''))
  return { name: `base-${hash}`, files }
}

/**
 * Returns the files of an overlay for an environment. From the overlay and its base, `kubectl kustomize` builds exactly
 * the objects of `wanted`. A change that is the same for all objects (namespace, labels, images, replicas) is written
 * once. Other changes are written as JSON Patches, as separate files for objects that the base lacks, and as deletions.
 * `basePath` is the path from the overlay's folder to the base's folder.
 */
export function toOverlay(
  base: readonly Manifest[],
  wanted: readonly Manifest[],
  { basePath }: { readonly basePath: string },
): FileTexts {
  const before = byIdentity(base)
  const after = byIdentity(wanted)
  const own = toFiles(
    wanted.filter(({ object }) => !before.has(identityOf(object))),
    'yaml',
  )
  const { fields, apply } = transformersBetween([...before.values()].map(objectOf), [...after.values()].map(objectOf))

  const files = new Map(own)
  const patches: Patch[] = []
  for (const [identity, { object }] of before) {
    const next = after.get(identity)
    if (!next) patches.push(deletion(object))
    else {
      const operations = operationsBetween(apply(object), next.object)
      if (operations.length === 0) continue
      const path = patchPath(next)
      if (files.has(path)) throw new Error(`two objects for ${path}`)
      files.set(path, `# ${next.source.replaceAll(/\p{Cc}/gu, '?')}\n${printOperations(operations)}`)
      patches.push({ path, target: targetOf(object) })
    }
  }
  const resources = [basePath, ...own.keys()]
  files.set(KUSTOMIZATION, printKustomization({ ...fields, resources, patches }))
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const objectOf = ({ object }: Manifest): KubernetesObject => object

/** Returns the identity of an object without its namespace, because environments differ in their namespaces. */
const identityOf = ({ apiVersion, kind, metadata }: KubernetesObject): string =>
  `${apiVersion} ${kind} ${metadata.name}`

function byIdentity(manifests: readonly Manifest[]): ReadonlyMap<string, Manifest> {
  const found = new Map<string, Manifest>()
  for (const manifest of manifests) {
    const identity = identityOf(manifest.object)
    if (found.has(identity)) throw new Error(`two objects ${identity}`)
    found.set(identity, manifest)
  }
  return found
}

/**
 * Returns the changes between two lists of objects that kustomize's transformers can make. Transformers run after the
 * patches and change every object, including new objects. A transformer is therefore used only if it leaves each wanted
 * object unchanged, whichever fields a version of kustomize may transform. `apply` makes the changes that all versions
 * since 5.0 make. All remaining differences are left to patches.
 */
function transformersBetween(base: readonly KubernetesObject[], wanted: readonly KubernetesObject[]): Transformer {
  const after = new Map(wanted.map(object => [identityOf(object), object]))
  const pairs = base.flatMap(object => {
    const next = after.get(identityOf(object))
    return next ? [[changed(object, () => {}), next] satisfies ObjectPair] : []
  })
  // Listed in the order in which kustomize applies them.
  const transformers = [namespaceBetween, labelsBetween, replicasBetween, imagesBetween].map(between =>
    between(pairs, wanted),
  )
  return {
    fields: Object.assign({}, ...transformers.map(({ fields }) => fields)),
    apply: object => transformers.reduce((changed, { apply }) => apply(changed), object),
  }
}

/** Returns the path of the object's file in the folder of patches. */
function patchPath(manifest: Manifest): string {
  const [path] = toFiles([{ ...manifest, folder: PATCHES }], 'yaml').keys()
  return path!
}

function targetOf({ apiVersion, kind, metadata }: KubernetesObject): PatchTarget {
  const [version, group] = apiVersion.split('/').reverse()
  return { ...(group !== undefined && { group }), version: version!, kind, name: metadata.name.replaceAll('.', '\\.') }
}

function deletion({ apiVersion, kind, metadata: { name, namespace } }: KubernetesObject): Patch {
  return { patch: printYaml({ $patch: 'delete', apiVersion, kind, metadata: { name, namespace } }) }
}
