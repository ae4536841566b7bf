import type { KubernetesObject } from '../../../constructs/manifest.ts'
import type { Kustomization } from './kustomization.ts'

/** An object that exists on both sides, before and after. */
export type ObjectPair = readonly [before: KubernetesObject, after: KubernetesObject]

/**
 * Keys of a kustomization, and a function that makes the same changes to an object. The keys are empty if kustomize
 * would not produce exactly the wanted objects.
 */
export interface Transformer {
  readonly fields: Partial<Kustomization>
  readonly apply: Transform
}

/** Applies a transformer of kustomize to an object that no patch has changed. */
export type Transform = (object: KubernetesObject) => KubernetesObject
