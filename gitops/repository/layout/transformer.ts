import type { KubernetesObject } from '../../../constructs/manifest.ts'
import type { Kustomization } from './kustomization.ts'

/** An object that both have, before and after. */
export type ObjectPair = readonly [before: KubernetesObject, after: KubernetesObject]

/** A key of a kustomization with what it does; nothing, where it would not be exact. */
export interface Transformer {
  readonly fields: Partial<Kustomization>
  readonly apply: Transform
}

/** Applies a transformer of kustomize to an object that patches have not changed. */
export type Transform = (object: KubernetesObject) => KubernetesObject
