import type { LoadInput, PlanInput } from '../project/input.ts'
import type { BuildSettings } from './plan/image-input.ts'

/** Images to build, and the settings of the builds. */
export interface ImagesInput extends LoadInput, Pick<PlanInput, 'name' | 'registry' | 'tag'>, BuildSettings {
  /** Services with `build`. If absent or empty, all of them. */
  readonly services?: readonly string[] | undefined
  /** Context of the kubeconfig whose builder and registry are used; defaults to the current context. */
  readonly context?: string | undefined
}
