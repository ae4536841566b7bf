import type { DeployingValues } from './deploy-options.ts'
import type { ProgressForm } from './progress/progress.ts'

/** What a deploy is to others that depend on it. */
export interface Deployed {
  readonly status: number
  readonly environment?: string
  /** What its commands handed on. */
  readonly variables?: Readonly<Record<string, string>>
}

export interface DeployValues extends DeployingValues {
  readonly wait: boolean
  readonly dependencies: boolean
  readonly createNamespace: boolean
  readonly bash: boolean
  readonly build: boolean
  readonly drift: 'ask' | 'overwrite'
  readonly output: ProgressForm
  /** Only these services and what they depend on; empty: all. */
  readonly services: readonly string[]
  /** `var` is what a manifest says of a dependency, and no option. */
  readonly isVarPublic?: boolean
}
