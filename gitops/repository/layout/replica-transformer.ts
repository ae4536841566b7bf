import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { at, changed, isMap } from '../../agents/json-values.ts'
import type { ReplicaEntry } from './kustomization.ts'
import type { ObjectPair, Transformer } from './transformer.ts'

/** Kinds that kustomize scales; a `replicas` entry matches only by name. */
const SCALED = new Set(['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'])

/**
 * Returns the `replicas` entries, for workloads whose replica count differs from the base. Omits names that several
 * wanted workloads with different replica counts share.
 */
export function replicasBetween(pairs: readonly ObjectPair[], wanted: readonly KubernetesObject[]): Transformer {
  const counts = new Map<string, number>()
  for (const [before, after] of pairs) {
    const { name } = after.metadata
    const count = replicasOf(after)
    if (typeof count !== 'number' || count === replicasOf(before)) continue
    const namesakes = wanted.filter(({ kind, metadata }) => SCALED.has(kind) && metadata.name === name)
    if (SCALED.has(after.kind) && namesakes.every(one => replicasOf(one) === count)) counts.set(name, count)
  }
  const replicas = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => ({ name, count }))
  return { fields: { replicas }, apply: object => withReplicas(object, replicas) }
}

/** Returns an object with the `replicas` entries applied. */
export function withReplicas(object: KubernetesObject, replicas: readonly ReplicaEntry[]): KubernetesObject {
  const count = replicas.find(entry => isScaledBy(object, entry))?.count
  if (count === undefined) return object
  return changed(object, ({ spec }) => {
    if (isMap(spec)) spec['replicas'] = count
  })
}

export const isScaledBy = ({ kind, metadata }: KubernetesObject, { name }: ReplicaEntry): boolean =>
  SCALED.has(kind) && metadata.name === name

const replicasOf = (object: KubernetesObject): unknown => at(object, 'spec', 'replicas')
