import type { KubeObject, OwnerReference } from '../../adapters/kubernetes/cluster.ts'

/**
 * The owner that creates and deletes an object, as a ReplicaSet does its Pods; at most one of
 * several owners.
 */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller)

/**
 * True if another object owns it: it goes and stays with that one. The claims of a StatefulSet
 * stay, and have no owner.
 */
export const isDependant = ({ metadata }: KubeObject): boolean => (metadata.ownerReferences ?? []).length > 0
