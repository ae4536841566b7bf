import type { KubernetesObject } from '../../constructs/manifest.ts'
import { changed } from '../json-values.ts'
import { imagesBetween } from './image-transformer.ts'
import type { Kustomization } from './kustomization.ts'
import { labelsBetween } from './label-transformer.ts'
import { namespaceBetween } from './namespace-transformer.ts'
import { replicasBetween } from './replica-transformer.ts'

/** What a transformer of kustomize makes of an object that patches have not changed. */
export type Transform = (object: KubernetesObject) => KubernetesObject

/** A key of a kustomization with what it does; nothing, where it would not be exact. */
export interface Transformer {
  readonly fields: Partial<Kustomization>
  readonly apply: Transform
}

/** An object that both have, before and after. */
export type Pair = readonly [before: KubernetesObject, after: KubernetesObject]

/**
 * The changes from one list of objects to the other that kustomize's transformers make. Transformers come after the patches and change
 * every object, also those that are new: so one is used only if it leaves each wanted object as it is, wherever any version of kustomize may
 * look. What `apply` says to be done by them is what all versions since 5.0 do. Whatever differs after it is left to patches.
 */
export function transformersBetween(
  base: readonly KubernetesObject[],
  wanted: readonly KubernetesObject[],
): Transformer {
  const identity = ({ apiVersion, kind, metadata }: KubernetesObject) => `${apiVersion} ${kind} ${metadata.name}`
  const after = new Map(wanted.map(object => [identity(object), object]))
  const pairs = base.flatMap(object => {
    const next = after.get(identity(object))
    return next ? [[changed(object, () => {}), next] satisfies Pair] : []
  })
  // In the order in which kustomize applies them.
  const transformers = [namespaceBetween, labelsBetween, replicasBetween, imagesBetween].map(between =>
    between(pairs, wanted),
  )
  return {
    fields: Object.assign({}, ...transformers.map(({ fields }) => fields)),
    apply: object => transformers.reduce((changed, { apply }) => apply(changed), object),
  }
}
