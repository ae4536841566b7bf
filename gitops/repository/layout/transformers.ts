import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { changed } from '../../agents/json-values.ts'
import { imagesBetween } from './image-transformer.ts'
import { labelsBetween } from './label-transformer.ts'
import { namespaceBetween } from './namespace-transformer.ts'
import { replicasBetween } from './replica-transformer.ts'
import type { ObjectPair, Transformer } from './transformer.ts'

/**
 * Returns the changes between two lists of objects that kustomize's transformers can make. Transformers run after the
 * patches and change every object, including new objects. A transformer is therefore used only if it leaves each wanted
 * object unchanged, whichever fields a version of kustomize may transform. `apply` makes the changes that all versions
 * since 5.0 make. All remaining differences are left to patches.
 */
export function transformersBetween(
  base: readonly KubernetesObject[],
  wanted: readonly KubernetesObject[],
): Transformer {
  const identity = ({ apiVersion, kind, metadata }: KubernetesObject) => `${apiVersion} ${kind} ${metadata.name}`
  const after = new Map(wanted.map(object => [identity(object), object]))
  const pairs = base.flatMap(object => {
    const next = after.get(identity(object))
    return next ? [[changed(object, () => {}), next] satisfies ObjectPair] : []
  })
  // Listed in the order in which kustomize applies them.
  const transformers = [namespaceBetween, labelsBetween, replicasBetween, imagesBetween].map(between =>
    between(pairs, wanted),
  )
  return {
    fields: Object.assign({}, ...transformers.map(({ fields }) => fields)),
    apply: object => transformers.reduce((changed, { apply }) => apply(changed), object),
  }
}
