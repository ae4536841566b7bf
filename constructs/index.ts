import type { Plan } from '../compiler/plan/plan.ts'
import type { Manifest } from './manifest.ts'
import { synth } from './synth.ts'

export type { KubernetesObject, Manifest } from './manifest.ts'

/**
 * Returns the Kubernetes objects of a plan, in the order in which they should be applied. The same plan always produces
 * the same bytes.
 */
export function toManifests(plan: Plan): Manifest[] {
  return synth(plan)
}
