import { isMap, type JsonMap } from '../../agents/json-values.ts'
import type { PatchOperation } from './json-patch-apply.ts'
import type { ImageEntry, Kustomization, LabelEntry, Patch, PatchTarget, ReplicaEntry } from './kustomization.ts'

/**
 * Thrown for content that differs from the forms that devctl writes. kustomize may accept the content, but devctl
 * cannot read it.
 */
export class UnsupportedForm extends Error {}

/** Content of a patch: operations or a deletion. */
export type PatchContent =
  | { readonly operations: readonly PatchOperation[] }
  | {
      readonly deletes: {
        readonly apiVersion: string
        readonly kind: string
        readonly name: string
        readonly namespace?: string
      }
    }

/**
 * Parses the document of a kustomization. Throws UnsupportedForm for keys and forms that `printKustomization` does not
 * write.
 */
export function readKustomization(value: unknown): Kustomization {
  const map = mapOf(value, ['apiVersion', 'kind', 'namespace', 'resources', 'labels', 'images', 'replicas', 'patches'])
  if (map['apiVersion'] !== 'kustomize.config.k8s.io/v1beta1' || map['kind'] !== 'Kustomization')
    throw new UnsupportedForm()
  const namespace = optionalText(map['namespace'])
  return {
    ...(namespace !== undefined && { namespace }),
    resources: listOf(map['resources']).map(text),
    labels: listOf(map['labels']).map(labelEntry),
    images: listOf(map['images']).map(imageEntry),
    replicas: listOf(map['replicas']).map(replicaEntry),
    patches: listOf(map['patches']).map(patch),
  }
}

/** Parses the document of a patch: operations, or a deletion. Throws UnsupportedForm for other patches. */
export function readPatch(value: unknown): PatchContent {
  if (Array.isArray(value)) return { operations: value.map(operation) }
  const { $patch, apiVersion, kind, metadata } = mapOf(value, ['$patch', 'apiVersion', 'kind', 'metadata'])
  if ($patch !== 'delete') throw new UnsupportedForm()
  const { name, namespace } = mapOf(metadata, ['name', 'namespace'])
  const space = optionalText(namespace)
  return {
    deletes: {
      apiVersion: text(apiVersion),
      kind: text(kind),
      name: text(name),
      ...(space !== undefined && { namespace: space }),
    },
  }
}

function labelEntry(value: unknown): LabelEntry {
  const {
    pairs,
    includeSelectors = false,
    includeTemplates = false,
  } = mapOf(value, ['pairs', 'includeSelectors', 'includeTemplates'])
  if (!isMap(pairs) || typeof includeSelectors !== 'boolean' || typeof includeTemplates !== 'boolean')
    throw new UnsupportedForm()
  const texts = Object.entries(pairs).map(([key, one]) => [key, text(one)] as const)
  return { pairs: Object.fromEntries(texts), includeSelectors, includeTemplates }
}

function imageEntry(value: unknown): ImageEntry {
  const { name, ...rest } = mapOf(value, ['name', 'newName', 'newTag', 'digest'])
  // kustomize would keep the tag or digest of the old reference if only a name were new.
  if (rest['newTag'] === undefined && rest['digest'] === undefined) throw new UnsupportedForm()
  return { name: text(name), ...Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, text(one)])) }
}

function replicaEntry(value: unknown): ReplicaEntry {
  const { name, count } = mapOf(value, ['name', 'count'])
  if (typeof count !== 'number') throw new UnsupportedForm()
  return { name: text(name), count }
}

function patch(value: unknown): Patch {
  const { path, patch, target } = mapOf(value, ['path', 'patch', 'target'])
  const to = target === undefined ? {} : { target: patchTarget(target) }
  if (path === undefined) return { patch: text(patch), ...to }
  if (patch !== undefined) throw new UnsupportedForm()
  return { path: text(path), ...to }
}

function patchTarget(value: unknown): PatchTarget {
  const map = mapOf(value, ['group', 'version', 'kind', 'name'])
  return Object.fromEntries(Object.entries(map).map(([key, one]) => [key, text(one)]))
}

function operation(value: unknown): PatchOperation {
  const { op, path, value: content } = mapOf(value, ['op', 'path', 'value'])
  if (op !== 'add' && op !== 'remove' && op !== 'replace') throw new UnsupportedForm()
  return { op, path: text(path), value: content }
}

function mapOf(value: unknown, keys: readonly string[]): JsonMap {
  if (!isMap(value) || Object.keys(value).some(key => !keys.includes(key))) throw new UnsupportedForm()
  return value
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new UnsupportedForm()
  return value
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new UnsupportedForm()
  return value
}

const optionalText = (value: unknown): string | undefined => (value === undefined ? undefined : text(value))
