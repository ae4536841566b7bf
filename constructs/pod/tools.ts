import type { ContainerMount, ContainerPlan, PodPlan, PodVolume } from '../../compiler/plan/plan.ts'
import { helperContainer, helperSecurity, type TakenNames, takeName } from './helper.ts'

/** A static busybox in an in-memory volume, so that init containers whose images have no shell can run scripts. */
export interface Tools {
  readonly container: ContainerPlan
  readonly volume: PodVolume
  readonly mount: ContainerMount
}

/** Path of busybox in the containers that use the tools. */
export const busybox = '/devctl/busybox'

/**
 * Plans the tools of a Pod that fills volumes, waits for Jobs or runs a program once; returns undefined if the Pod does
 * not need tools.
 */
export function planTools(plan: PodPlan, taken: TakenNames): Tools | undefined {
  const image = toolsImage(plan)
  if (image === undefined) return undefined
  const volume = takeName('tools', taken.volumes)
  const mount: ContainerMount = { volume, path: '/devctl' }
  return {
    mount,
    volume: { kind: 'memory', name: volume },
    container: helperContainer({
      name: takeName('tools', taken.containers),
      image,
      command: ['cp', '/bin/busybox', busybox],
      mounts: [mount],
      security: helperSecurity(plan),
    }),
  }
}

function toolsImage(plan: PodPlan): string | undefined {
  const [fill] = plan.fills
  if (fill) return fill.toolsImage
  for (const { once } of plan.containers) if (once) return once.toolsImage
  for (const wait of plan.waits) if (wait.kind === 'job') return wait.toolsImage
  return undefined
}
