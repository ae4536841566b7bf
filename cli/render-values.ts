import type { LayoutName } from '../operations/gitops/layout/readme.ts'
import type { LoadingValues, PlanningValues } from './project-options.ts'

export interface RenderValues extends LoadingValues, PlanningValues {
  /** Absent: YAML, or for an environment that is published the files that are published. */
  readonly format: 'yaml' | 'json' | 'kustomize' | undefined
  readonly layout: LayoutName | undefined
  readonly outputDir: string | undefined
  readonly takeOver: boolean
}
