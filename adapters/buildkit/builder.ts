import type { ContextSource } from '../../compiler/values/images/build-context.ts'
import type { BuildSecretSource, BuildSpec, DockerfileSource } from '../../compiler/values/images/build-spec.ts'
import type { ChangeFinder } from './files/changed.ts'
import type { Login } from './session/session.ts'
import type { BuildStatus } from './status.ts'

/**
 * An image to build. All paths are absolute; only files that the build requests are read. Most fields correspond to
 * keys of `build`: https://docs.docker.com/reference/compose-file/build/.
 */
export interface ImageInput extends Omit<BuildSpec, 'contexts' | 'dependsOn' | 'exportCache' | 'network'> {
  /** Additional contexts (`additional_contexts`), by name. */
  readonly contexts: ReadonlyMap<string, ContextSource | ImageLayout>
  readonly network?: string
  readonly output: BuildOutput
}

export type { BuildSecretSource, ContextSource, DockerfileSource }

/** An image in a folder on this machine: the result of a build with the output `layout`. */
export interface ImageLayout {
  readonly layout: string
  readonly digest: string
}

/** Destination of the image. `discard` only checks that the image builds, and fills the builder's cache. */
export type BuildOutput =
  | { readonly kind: 'registry'; readonly names: readonly string[] }
  | { readonly kind: 'engine'; readonly names: readonly string[] }
  | { readonly kind: 'archive'; readonly path: string; readonly names: readonly string[] }
  /** A folder in the OCI image layout, which other builds can use as a base: see `ImageLayout`. */
  | { readonly kind: 'layout'; readonly folder: string }
  | { readonly kind: 'discard' }

export interface BuildCall {
  /**
   * Name of the build. On a platform, the name selects the builder, so that a build finds the cache of earlier builds
   * with the same name.
   */
  readonly name?: string
  /** Signal that cancels the build on the builder. */
  readonly signal: AbortSignal
  readonly onStatus: (status: BuildStatus) => void
  /** Returns the login for a registry host; undefined means anonymous. */
  readonly credentials: (host: string) => Promise<Login | undefined>
  /** Called with the content of a secret before it is sent to the builder. */
  readonly onSecret?: (content: Uint8Array) => void
  /**
   * Returns a function that finds the files of a folder that have changed since the tag of the image was computed. If a
   * file has changed, the build fails before anything is pushed. Files are not compared if `changesIn` is absent or
   * returns undefined.
   */
  readonly changesIn?: (folder: string) => ChangeFinder | undefined
}

export interface BuildResult {
  /** Digest of the manifest, or of the index if there are several platforms. Absent if nothing was exported. */
  readonly digest?: string
}

/** A builder that has responded to a first request. */
export interface Builder {
  /** Name of the builder in messages: ``BuildKit at `tcp://builder:1234` ``. */
  readonly name: string
  /** Version of the builder, if it reports one. */
  readonly version?: string
  /**
   * Builds an image. Throws a `BuildFailure` if a step fails, or a `BuilderError` if the builder cannot be reached or
   * refuses the build. If the signal is aborted, throws its abort reason.
   */
  build(input: ImageInput, call: BuildCall): Promise<BuildResult>
  /**
   * Waits until the builder responds again after a lost connection. Throws a `BuilderError` if the builder does not
   * respond in time, or the signal's abort reason.
   */
  back(signal: AbortSignal): Promise<void>
  close(): void
}
