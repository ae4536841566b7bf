import type { LoadInput, PlanInput } from '../project/input.ts'
import type { BuildSettings } from './plan/image-input.ts'

/** Images to build, and the settings of the builds. */
export interface ImagesInput extends LoadInput, Pick<PlanInput, 'name' | 'registry' | 'tag'>, BuildSettings {
  /** Names of the services to build. If absent or empty, all services with `build` are built. */
  readonly services?: readonly string[] | undefined
  /** Context of the kubeconfig whose builder and registry are used; defaults to the current context. */
  readonly context?: string | undefined
}
