import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { changed, isMap } from '../../agents/json-values.ts'
import type { ObjectPair, Transformer } from './transformer.ts'

/**
 * Returns the `namespace` entry if all wanted objects are in one namespace, and at least one of them is in another
 * namespace in the base.
 */
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
 * Returns an object with the `namespace` entry applied. `accounts` are the names of the application's service accounts.
 */
export function withNamespace(
  object: KubernetesObject,
  namespace: string,
  accounts: ReadonlySet<string>,
): KubernetesObject {
  // The Namespace object itself is renamed.
  if (object.kind === 'Namespace') return { ...object, metadata: { ...object.metadata, name: namespace } }
  const moved = { ...object, metadata: { ...object.metadata, namespace } }
  if (!object.kind.endsWith('RoleBinding')) return moved
  return changed(moved, ({ subjects }) => {
    // kustomize only updates service accounts that it knows, and the account `default`, which exists everywhere.
    for (const subject of Array.isArray(subjects) ? subjects.filter(isMap) : [])
      if (subject['name'] === 'default' || accounts.has(String(subject['name']))) subject['namespace'] = namespace
  })
}

/** Returns the names of the service accounts among objects. */
export function accountsOf(objects: readonly KubernetesObject[]): ReadonlySet<string> {
  return new Set(objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name))
}
