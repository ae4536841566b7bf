import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { changed, isMap } from '../../agents/json-values.ts'
import type { ObjectPair, Transformer } from './transformer.ts'

/** `namespace`, where all objects are in one and were not. */
export function namespaceBetween(pairs: readonly ObjectPair[], wanted: readonly KubernetesObject[]): Transformer {
  const namespace = wanted.find(({ metadata }) => metadata.namespace !== undefined)?.metadata.namespace
  const accounts = accountsOf(wanted)
  const moves = pairs.some(([before, after]) => before.metadata.namespace !== after.metadata.namespace)
  if (namespace === undefined || !moves) return { fields: {}, apply: object => object }

  const apply = (object: KubernetesObject) => withNamespace(object, namespace, accounts)
  const isExact = wanted.every(object => isDeepStrictEqual(apply(object), object))
  return isExact ? { fields: { namespace }, apply } : { fields: {}, apply: object => object }
}

/**
 * An object after `namespace` is applied, in an application with the service accounts of these
 * names.
 */
export function withNamespace(
  object: KubernetesObject,
  namespace: string,
  accounts: ReadonlySet<string>,
): KubernetesObject {
  // The object of the namespace gets its name.
  if (object.kind === 'Namespace') return { ...object, metadata: { ...object.metadata, name: namespace } }
  const moved = { ...object, metadata: { ...object.metadata, namespace } }
  if (!object.kind.endsWith('RoleBinding')) return moved
  return changed(moved, ({ subjects }) => {
    // Of accounts kustomize follows those that it knows, and the one that is everywhere.
    for (const subject of Array.isArray(subjects) ? subjects.filter(isMap) : [])
      if (subject['name'] === 'default' || accounts.has(String(subject['name']))) subject['namespace'] = namespace
  })
}

/** Names of the service accounts among objects. */
export function accountsOf(objects: readonly KubernetesObject[]): ReadonlySet<string> {
  return new Set(objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name))
}
