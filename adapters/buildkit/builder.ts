import type { ContextSource } from '../../compiler/values/images/build-context.ts'
import type { BuildSecretSource, BuildSpec, DockerfileSource } from '../../compiler/values/images/build-spec.ts'
import type { ChangeFinder } from './files/changed.ts'
import type { Login } from './session/session.ts'
import type { BuildStatus } from './status.ts'

/**
 * An image to build. All paths are absolute; nothing is read from it that the build does not ask
 * for. The attributes are those of https://docs.docker.com/reference/compose-file/build/.
 */
export interface ImageInput extends Omit<BuildSpec, 'contexts' | 'dependsOn' | 'exportCache' | 'network'> {
  /** `additional_contexts`, by name. */
  readonly contexts: ReadonlyMap<string, ContextSource | ImageLayout>
  readonly network?: string
  readonly output: BuildOutput
}

export type { BuildSecretSource, ContextSource, DockerfileSource }

/** An image in a folder of this machine: what a build with the output `layout` gave. */
export interface ImageLayout {
  readonly layout: string
  readonly digest: string
}

/** The destination of the image. `discard` only checks that it builds, and fills the builder's cache. */
export type BuildOutput =
  | { readonly kind: 'registry'; readonly names: readonly string[] }
  | { readonly kind: 'engine'; readonly names: readonly string[] }
  | { readonly kind: 'archive'; readonly path: string; readonly names: readonly string[] }
  /** A folder in the OCI image layout, which other builds can be built on: see `ImageLayout`. */
  | { readonly kind: 'layout'; readonly folder: string }
  | { readonly kind: 'discard' }

export interface BuildCall {
  /**
   * Name of the build: a platform selects the builder by it, so that a build finds the cache of earlier builds with the
   * same name.
   */
  readonly name?: string
  /** Its abort cancels the build on the builder. */
  readonly signal: AbortSignal
  readonly onStatus: (status: BuildStatus) => void
  /** The login of a registry by its host; undefined: anonymous. */
  readonly credentials: (host: string) => Promise<Login | undefined>
  /** Called with the content of a secret before the builder gets it. */
  readonly onSecret?: (content: Uint8Array) => void
  /**
   * Finds files of a folder that are not what the image's tag was computed from: such a build fails
   * before anything is pushed. Absent or undefined: none are looked for.
   */
  readonly changesIn?: (folder: string) => ChangeFinder | undefined
}

export interface BuildResult {
  /** The digest of the manifest, or of the index of several platforms. Absent if nothing was exported. */
  readonly digest?: string
}

/** A builder that has answered. */
export interface Builder {
  /** Name of the builder in messages: ``BuildKit at `tcp://builder:1234` ``. */
  readonly name: string
  /** Its version, if it tells. */
  readonly version?: string
  /**
   * Builds an image. Throws a `BuildFailure` if a step fails, a `BuilderError` if the builder
   * cannot be reached or refuses the build, and the signal's reason.
   */
  build(input: ImageInput, call: BuildCall): Promise<BuildResult>
  /**
   * Waits until it answers again, after a connection was lost. Throws a `BuilderError` if it does not
   * come back in time, and the signal's reason.
   */
  back(signal: AbortSignal): Promise<void>
  close(): void
}
