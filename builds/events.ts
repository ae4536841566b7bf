import type { BuildStatus } from '../adapters/buildkit/status.ts'

/**
 * The events of building images. `name` is the service, or the entry of the manifest's `build`; the
 * events of several builds can be interleaved.
 */
export type BuildEvent =
  /** A build is sent to the builder; `reference` is the image that it makes. */
  | { readonly type: 'build-begun'; readonly name: string; readonly reference: string }
  /** Status as the builder sends it: secrets are not masked. */
  | { readonly type: 'build-status'; readonly name: string; readonly status: BuildStatus }
  /** A build failed because of the builder, a registry or the connection, and is tried again. */
  | {
      readonly type: 'build-retry'
      readonly name: string
      readonly reason: string
      /** The next attempt, from 2. */
      readonly attempt: number
      readonly of: number
    }
  /** Sent once for each image, also for one that was not begun. */
  | BuildEnded

export interface BuildEnded {
  readonly type: 'build-ended'
  readonly name: string
  /**
   * `present`: the registry has it already. `skipped`: another build that it needs failed.
   * `cancelled`: the command was interrupted, or took too long.
   */
  readonly outcome: 'built' | 'present' | 'failed' | 'skipped' | 'cancelled'
  readonly digest?: string
  /** Names that pointed to another image and point to this one now. */
  readonly moved?: readonly string[]
  readonly seconds: number
}
