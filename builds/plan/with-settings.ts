import { HIDDEN } from '../../compiler/text/secret-places.ts'
import { shortHash } from '../../compiler/values/dns-name.ts'
import { isVariableWithSecret } from '../../compiler/values/secrets/secret-names.ts'
import type { BuildSettings } from './image-input.ts'
import type { PlannedBuild } from './planned-build.ts'

/**
 * Returns the builds with tags that include the options: `--build-arg`, `--target` and `--platform` count like their
 * keys in the file. Argument values that look secret are not included; an image with such a value is rebuilt each time.
 */
export function withSettings(
  builds: readonly PlannedBuild[],
  { args = new Map(), target, platforms = [] }: BuildSettings,
): readonly PlannedBuild[] {
  const shown = [...args].map(([name, value]) => [name, isVariableWithSecret(name, value) ? HIDDEN : value])
  if (shown.length === 0 && target === undefined && platforms.length === 0) return builds
  const settings = [shown.sort(), target ?? '', [...platforms].sort()]
  const isMoving = [...args].some(([name, value]) => isVariableWithSecret(name, value))
  return builds.map(build => {
    const { reference, contentReference } = build
    if (!contentReference) return build
    const end = contentReference.length - HASH
    const hash = shortHash(JSON.stringify([contentReference.slice(end), ...settings]), HASH)
    const changed = `${contentReference.slice(0, end)}${hash}`
    return {
      ...build,
      contentReference: changed,
      reference: reference === contentReference ? changed : reference,
      ...(isMoving && { isMoving }),
    }
  })
}

/** Length of the hash at the end of the tag, in characters. */
const HASH = 12
