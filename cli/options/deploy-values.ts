import type { ProgressForm } from '../terminal/progress/progress.ts'
import type { DeployingValues } from './deploy.ts'

export interface DeployValues extends DeployingValues {
  readonly wait: boolean
  readonly tolerateFailures: boolean
  readonly dependencies: boolean
  readonly createNamespace: boolean
  readonly bash: boolean
  readonly build: boolean
  readonly drift: 'ask' | 'overwrite'
  readonly allWarnings: boolean
  readonly output: ProgressForm
  /** Only these services and their dependencies; empty for all services. */
  readonly services: readonly string[]
}
