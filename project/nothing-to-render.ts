import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { DevctlManifest as SourceManifest } from '../compiler/manifest/manifest.ts'

/** Returns the error for a manifest without a Compose file, for which there is nothing to render or print. */
export function nothingToRender({ shown, automatic }: SourceManifest): UserError {
  return new UserError(
    automatic
      ? `there is no Compose file to render: \`${shown}\` is deployed as it is`
      : `there is no Compose file to render: \`${shown}\` names none, and there is none beside it`,
    { hint: 'write a `compose.yaml`, or name one in `deploy.compose` of the manifest' },
  )
}
