import type { LayoutName } from '../../gitops/repository/layout/readme.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'

export interface RenderInput extends LoadInput, PlanInput {
  /** Only these services and what they depend on; absent or empty: all. */
  readonly services?: readonly string[] | undefined
  /**
   * The form of the files, with `kustomize` also a kustomization. Absent: YAML, or for an environment that is published
   * the files that are published.
   */
  readonly format?: 'yaml' | 'json' | 'kustomize' | undefined
  /** Layout that `publish` would use; replaces `format`. */
  readonly layout?: LayoutName | undefined
  /** The folder that files are written to. Absent: nothing is written. */
  readonly outputDir?: string | undefined
  /** True to replace files of the folder that were edited by hand, or belong to something else. */
  readonly takeOver?: boolean | undefined
}
