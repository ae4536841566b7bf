import type { KubeObject, OwnerReference } from '../../adapters/kubernetes/cluster.ts'

/**
 * Returns the owner that creates and deletes an object, such as the ReplicaSet of a Pod; undefined if there is none. An
 * object can have several owners, but at most one of them is its controller.
 */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller)

/**
 * Returns true if another object owns the object, which is then garbage-collected with its owner. The
 * PersistentVolumeClaims of a StatefulSet have no owner, so they are retained.
 */
export const isDependant = ({ metadata }: KubeObject): boolean => (metadata.ownerReferences ?? []).length > 0
