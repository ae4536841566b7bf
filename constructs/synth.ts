import type { Plan } from '../compiler/plan/plan.ts'
import { inReadingOrder } from './key-order.ts'
import { annotations } from './labels.ts'
import type { KubernetesObject, Manifest } from './manifest.ts'
import { makingOf, OBJECTS } from './objects.ts'
import { addAnnotations } from './pod/newer-fields.ts'

/**
 * The objects of a plan in the order of `OBJECTS`. The same objects as Application's, from the same
 * props, rendered without an App and a Chart around them: those walk every value of every object
 * again, which took half of the time.
 */
export function synth(plan: Plan): Manifest[] {
  const making = makingOf(plan)
  const manifests: Manifest[] = []
  for (const objects of OBJECTS)
    objects.json(making, ({ source, service, annotations: own }, json) => {
      addAnnotations(json as Record<string, unknown>, annotations(own)) // a map, as all objects
      // The typed classes render what a Kubernetes object is: apiVersion, kind, metadata and more.
      manifests.push({ source, folder: service ?? '_shared', object: inReadingOrder(json) as KubernetesObject })
    })
  return manifests
}
