import type { LoadInput, PlanInput } from '../project/input.ts'
import type { BuildSettings } from './plan/image-input.ts'

/** The images to build, and the settings of the builds. */
export interface ImagesInput extends LoadInput, Pick<PlanInput, 'name' | 'registry' | 'tag'>, BuildSettings {
  /** Services with `build`; absent or empty: all. */
  readonly services?: readonly string[] | undefined
  /** A context of the kubeconfig, whose builder and registry are used; absent: the current one. */
  readonly context?: string | undefined
}
