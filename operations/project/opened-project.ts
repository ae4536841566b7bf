import type { Diagnostic } from '../../compiler/index.ts'
import type { DevctlManifest, ManifestEnvironment } from '../../compiler/manifest/manifest.ts'
import type { SecretPlaces } from '../../compiler/text/secret-places.ts'

/** What the options of a command lead to, before anything is compiled. */
export interface OpenProject {
  /** Absent where there is only a Compose file. */
  readonly manifest?: DevctlManifest
  /** What `--environment` names. */
  readonly environment?: ManifestEnvironment
  /** The mistakes of the manifest. */
  readonly diagnostics: readonly Diagnostic[]
  /** Whether `-f` names Compose files: the manifest then only has the environment. */
  readonly namesCompose: boolean
  /** The secrets of the manifest. */
  readonly secrets?: SecretPlaces
  /** What standard input held, where `-f -` asked for it. */
  readonly stdin?: Uint8Array
}
