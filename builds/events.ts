import type { BuildStatus } from '../adapters/buildkit/status.ts'

/**
 * Events of image builds. `name` is the service, or the entry of the manifest's `build`; the events of several builds
 * can be interleaved.
 */
export type BuildEvent =
  /** A build is sent to the builder; `reference` is the image that it will produce. */
  | { readonly type: 'build-begun'; readonly name: string; readonly reference: string }
  /** Status as the builder sends it. Secrets in it are not masked. */
  | { readonly type: 'build-status'; readonly name: string; readonly status: BuildStatus }
  /** A build failed because of the builder, a registry or the connection, and is retried. */
  | {
      readonly type: 'build-retry'
      readonly name: string
      readonly reason: string
      /** Number of the next attempt, from 2. */
      readonly attempt: number
      readonly of: number
    }
  /** Sent once for each image, including images whose build never started. */
  | BuildEnded

export interface BuildEnded {
  readonly type: 'build-ended'
  readonly name: string
  /**
   * `present`: the registry already has the image. `skipped`: a build that it depends on failed. `cancelled`: the
   * command was interrupted or timed out.
   */
  readonly outcome: 'built' | 'present' | 'failed' | 'skipped' | 'cancelled'
  readonly digest?: string
  /** Names that pointed to other images before the build and now point to its image. */
  readonly moved?: readonly string[]
  readonly seconds: number
}
