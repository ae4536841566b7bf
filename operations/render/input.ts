import type { LayoutName } from '../../gitops/repository/layout/readme.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'

export interface RenderInput extends LoadInput, PlanInput {
  /** Services to render, together with their dependencies. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
  /**
   * Format of the files; `kustomize` adds a kustomization to YAML files. Default: YAML, except for a published
   * environment, for which the files are those that `publish` writes.
   */
  readonly format?: 'yaml' | 'json' | 'kustomize' | undefined
  /** Layout that `publish` would use; replaces `format`. */
  readonly layout?: LayoutName | undefined
  /** Folder to write files to. If absent, nothing is written. */
  readonly outputDir?: string | undefined
  /** True to replace files in the folder that were edited by hand, or belong to another application. */
  readonly takeOver?: boolean | undefined
}
