import type { Diagnostic } from '../compiler/index.ts'
import type { DevctlManifest, ManifestEnvironment } from '../compiler/manifest/manifest.ts'
import type { SecretPlaces } from '../compiler/text/secret-places.ts'

/** Project selected by the options of a command, before it is compiled. */
export interface OpenProject {
  /** Manifest; absent if the project has only a Compose file. */
  readonly manifest?: DevctlManifest
  /** Environment that `--environment` names. */
  readonly environment?: ManifestEnvironment
  /** Errors and warnings about the manifest. */
  readonly diagnostics: readonly Diagnostic[]
  /** True if `-f` names Compose files. The manifest is then only used for the environment and its target. */
  readonly namesCompose: boolean
  /** Secrets of the manifest. */
  readonly secrets?: SecretPlaces
  /** Content of standard input, if `-f -` requests it. */
  readonly stdin?: Uint8Array
}
