import type { KubernetesObject } from '../../../constructs/manifest.ts'
import type { Kustomization } from './kustomization.ts'

/** An object that exists on both sides, before and after. */
export type ObjectPair = readonly [before: KubernetesObject, after: KubernetesObject]

/** Keys of a kustomization and their effect on an object. Empty if the result would not be exact. */
export interface Transformer {
  readonly fields: Partial<Kustomization>
  readonly apply: Transform
}

/** Applies a transformer of kustomize to an object that no patch has changed. */
export type Transform = (object: KubernetesObject) => KubernetesObject
