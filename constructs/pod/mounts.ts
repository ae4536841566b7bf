import type { ContainerMount } from '../../compiler/plan/plan.ts'
import type { NewerVolumeMount } from './newer-fields.ts'

/** Returns the volume mount of a container. `readOnly` is written only when it is true. */
export function toVolumeMount(plan: ContainerMount): NewerVolumeMount {
  return {
    name: plan.volume,
    mountPath: plan.path,
    subPath: plan.subPath,
    readOnly: plan.readOnly || undefined,
    mountPropagation: plan.propagation,
    recursiveReadOnly: plan.recursiveReadOnly ? 'Enabled' : undefined,
  }
}
