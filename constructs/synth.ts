import type { Plan } from '../compiler/plan/plan.ts'
import { inReadingOrder } from './key-order.ts'
import { annotations } from './labels.ts'
import type { KubernetesObject, Manifest } from './manifest.ts'
import { makingOf, OBJECTS } from './objects.ts'
import { addPiece } from './piece.ts'
import { addAnnotations } from './pod/newer-fields.ts'

/**
 * Returns the objects of a plan in the order of `OBJECTS`. `Application` creates the same objects with the same props,
 * but needs an App and a Chart. An App and a Chart process every value of every object again, which took half of the
 * total time.
 */
export function synth(plan: Plan): Manifest[] {
  const making = makingOf(plan)
  const manifests: Manifest[] = []
  for (const objects of OBJECTS)
    objects.json(making, ({ source, service, annotations: own, piece }, json) => {
      addAnnotations(json as Record<string, unknown>, annotations(own)) // a map, as all objects
      addPiece(json as Record<string, unknown>, piece)
      // The typed classes render complete Kubernetes objects, with apiVersion, kind and metadata.
      manifests.push({ source, folder: service ?? '_shared', object: inReadingOrder(json) as KubernetesObject })
    })
  return manifests
}
