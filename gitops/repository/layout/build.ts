import { posix } from 'node:path'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { changed, isMap } from '../../agents/json-values.ts'
import { withImages } from './image-transformer.ts'
import { applyOperations, type PatchOperation } from './json-patch-apply.ts'
import { KUSTOMIZATION, type Kustomization, type Patch, type PatchTarget } from './kustomization.ts'
import { withLabels } from './label-transformer.ts'
import { accountsOf, withNamespace } from './namespace-transformer.ts'
import { readKustomization, readPatch, UnsupportedForm } from './read-kustomization.ts'
import { isScaledBy, withReplicas } from './replica-transformer.ts'

/** Returns the text of the file at a path with `/` as the separator; undefined if the file does not exist. */
export type ReadText = (path: string) => string | undefined

type Objects = readonly KubernetesObject[]

interface Files {
  readonly read: ReadText
  readonly parse: (text: string) => readonly unknown[]
}

/**
 * Returns the objects that `kubectl kustomize` builds from a folder with a kustomization. Supports only the parts of
 * kustomize that devctl writes. `folder` is a path that `read` accepts. Undefined if the folder cannot be read, or uses
 * other parts of kustomize.
 */
export async function buildFolder(folder: string, read: ReadText): Promise<Objects | undefined> {
  const { loadAll, YAMLException } = await import('js-yaml')
  try {
    return build(folder, { read, parse: text => loadAll(text) }, [])
  } catch (error) {
    if (error instanceof UnsupportedForm || error instanceof YAMLException) return undefined
    throw error
  }
}

/**
 * Builds the objects of a folder. `way` contains the folders that are being built, from the outermost to the parent of
 * this folder, so that a cycle is detected.
 */
function build(folder: string, files: Files, way: readonly string[]): Objects {
  if (way.includes(folder)) throw new UnsupportedForm()
  const [document, ...others] = documents(posix.join(folder, KUSTOMIZATION), files)
  if (others.length > 0) throw new UnsupportedForm()
  const kustomization = readKustomization(document)
  const { resources, patches = [] } = kustomization
  const found = resources.flatMap(resource => resourceObjects(folder, resource, files, [...way, folder]))
  refuseTwins(found)
  const patched = patches.reduce<Objects>((objects, patch) => patchObjects(objects, patch, folder, files), found)
  const built = transform(patched, kustomization)
  refuseTwins(built)
  return built
}

function resourceObjects(folder: string, resource: string, files: Files, way: readonly string[]): Objects {
  const path = posix.join(folder, resource)
  if (files.read(path) === undefined) return build(path, files, way)
  // kustomize accepts folders at any path, but files only below the kustomization.
  if (resource.startsWith('../')) throw new UnsupportedForm()
  return documents(path, files).flatMap(objectsIn)
}

function documents(path: string, { read, parse }: Files): readonly unknown[] {
  const text = read(path)
  if (text === undefined) throw new UnsupportedForm()
  return parse(text)
}

/** Returns the objects of a document: the document itself, or the items of a list; none if the document is empty. */
function objectsIn(document: unknown): Objects {
  if (document === null || document === undefined) return []
  if (!isMap(document) || typeof document['apiVersion'] !== 'string') throw new UnsupportedForm()
  if (document['kind'] === 'List' && Array.isArray(document['items'])) return document['items'].flatMap(objectsIn)
  const { kind, metadata } = document
  if (typeof kind !== 'string' || !isMap(metadata) || typeof metadata['name'] !== 'string') throw new UnsupportedForm()
  return [document as unknown as KubernetesObject] // it has the fields that all have
}

/** Throws if two objects have the same identity, because kustomize rejects such objects. */
function refuseTwins(objects: Objects): void {
  const identities = objects.map(({ apiVersion, kind, metadata: { name, namespace } }) => {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
    return JSON.stringify([group, kind, namespace ?? DEFAULT, name])
  })
  if (new Set(identities).size < identities.length) throw new UnsupportedForm()
}

const DEFAULT = 'default'

function patchObjects(objects: Objects, patch: Patch, folder: string, files: Files): Objects {
  const all = 'path' in patch ? documents(posix.join(folder, patch.path), files) : files.parse(patch.patch)
  if (all.length !== 1) throw new UnsupportedForm()
  const content = readPatch(all[0])
  if ('operations' in content) {
    if (!patch.target) throw new UnsupportedForm()
    const isTarget = matcher(patch.target)
    return objects.map(object => (isTarget(object) ? operated(object, content.operations) : object))
  }
  const { apiVersion, kind, name, namespace } = content.deletes
  const left = objects.filter(
    ({ metadata, ...object }) =>
      object.apiVersion !== apiVersion ||
      object.kind !== kind ||
      metadata.name !== name ||
      (metadata.namespace ?? DEFAULT) !== (namespace ?? DEFAULT),
  )
  if (patch.target || left.length === objects.length) throw new UnsupportedForm()
  return left
}

function operated(object: KubernetesObject, operations: readonly PatchOperation[]): KubernetesObject {
  const result = changed(object, copy => {
    if (!applyOperations(copy, operations)) throw new UnsupportedForm()
  })
  const [after] = objectsIn(result)
  // The name of an object determines which patches apply to it.
  if (!after || typeOf(after) !== typeOf(object) || after.metadata.name !== object.metadata.name)
    throw new UnsupportedForm()
  return after
}

const typeOf = ({ apiVersion, kind }: KubernetesObject): string => `${apiVersion} ${kind}`

/** Returns a predicate that is true for the objects that a patch targets. */
function matcher({ group, version, kind, name }: PatchTarget): (object: KubernetesObject) => boolean {
  // Supports only regular expressions that match exactly one name.
  if (name !== undefined && !/^([\w:-]|\\\.)+$/.test(name)) throw new UnsupportedForm()
  const wanted = name?.replaceAll('\\.', '.')
  const fits = (wish: string | undefined, found: string | undefined) => wish === undefined || wish === found
  return object => {
    const [ownVersion, ownGroup] = object.apiVersion.split('/').reverse()
    return (
      fits(group, ownGroup) &&
      fits(version, ownVersion) &&
      fits(kind, object.kind) &&
      fits(wanted, object.metadata.name)
    )
  }
}

/**
 * Kinds, other than Namespace itself, that kustomize treats as objects without a namespace. devctl writes none of them.
 */
const CLUSTER_WIDE = /^(Cluster.*|CustomResourceDefinition|PersistentVolume|StorageClass|PriorityClass|IngressClass)$/

/** Applies the transformers in the same order as kustomize. */
function transform(objects: Objects, { namespace, labels = [], replicas = [], images = [] }: Kustomization): Objects {
  if (namespace !== undefined && objects.some(({ kind }) => CLUSTER_WIDE.test(kind))) throw new UnsupportedForm()
  if (labels.length > 0 && objects.some(({ metadata }) => !isMap(metadata.labels))) throw new UnsupportedForm()
  if (replicas.some(entry => !objects.some(object => isScaledBy(object, entry)))) throw new UnsupportedForm()
  const accounts = accountsOf(objects)
  return objects
    .map(object => (namespace === undefined ? object : withNamespace(object, namespace, accounts)))
    .map(object => withLabels(object, labels))
    .map(object => withReplicas(object, replicas))
    .map(object => withImages(object, images))
}
