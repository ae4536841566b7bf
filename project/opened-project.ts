import type { Diagnostic } from '../compiler/index.ts'
import type { DevctlManifest, ManifestEnvironment } from '../compiler/manifest/manifest.ts'
import type { SecretPlaces } from '../compiler/text/secret-places.ts'

/** The project that the options of a command lead to, before it is compiled. */
export interface OpenProject {
  /** Absent where there is only a Compose file. */
  readonly manifest?: DevctlManifest
  /** The environment that `--environment` names. */
  readonly environment?: ManifestEnvironment
  /** The mistakes of the manifest. */
  readonly diagnostics: readonly Diagnostic[]
  /** True if `-f` names Compose files: only the environment is then used from the manifest. */
  readonly namesCompose: boolean
  /** The secrets of the manifest. */
  readonly secrets?: SecretPlaces
  /** The content of standard input, if `-f -` asks for it. */
  readonly stdin?: Uint8Array
}
