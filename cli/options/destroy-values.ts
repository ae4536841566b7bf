import type { SessionOptions } from '../run/cluster-session.ts'
import type { LoadingValues } from './project.ts'

export interface DestroyValues extends LoadingValues, SessionOptions {
  readonly name: string | undefined
  readonly var: Readonly<Record<string, string>> | undefined
  readonly volumes: boolean
  readonly all: boolean
  readonly dependencies: boolean
  readonly yes: boolean
  readonly wait: boolean
  readonly bash: boolean
  /** Only these services; empty for all services. */
  readonly services: readonly string[]
}
