import type { LoadInput, PlanInput } from '../project/input.ts'
import type { BuildSettings } from './plan/image-input.ts'

/** Which images to build, and how. */
export interface ImagesInput extends LoadInput, Pick<PlanInput, 'name' | 'registry' | 'tag'>, BuildSettings {
  /** Services with `build`; absent or empty: all. */
  readonly services?: readonly string[] | undefined
  /** A context of the kubeconfig, whose builder and registry are used; absent: the current one. */
  readonly context?: string | undefined
}
