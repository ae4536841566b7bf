import { HIDDEN } from '../../compiler/text/secret-places.ts'
import { shortHash } from '../../compiler/values/dns-name.ts'
import { secretMark } from '../../compiler/values/secret-mark.ts'
import { isVariableWithSecret } from '../../compiler/values/secret-names.ts'
import type { BuildSettings } from './image-input.ts'
import type { PlannedBuild } from './planned-build.ts'

/**
 * The builds with the tags of what options make of their content: `--build-arg`, `--target` and
 * `--platform` count like their keys in the file, and values of arguments that look secret with a
 * mark.
 */
export function withSettings(
  builds: readonly PlannedBuild[],
  { args = new Map(), target, platforms = [] }: BuildSettings,
): readonly PlannedBuild[] {
  const shown = [...args].map(([name, value]) => [name, isVariableWithSecret(name, value) ? HIDDEN : value])
  if (shown.length === 0 && target === undefined && platforms.length === 0) return builds
  const secret = [...args].filter(([name, value]) => isVariableWithSecret(name, value)).sort()
  const mark = secret.length > 0 ? [secretMark(secret)] : []
  const settings = [shown.sort(), target ?? '', [...platforms].sort(), ...mark]
  return builds.map(build => {
    const { reference, contentReference } = build
    if (!contentReference) return build
    const end = contentReference.length - HASH
    const hash = shortHash(JSON.stringify([contentReference.slice(end), ...settings]), HASH)
    const changed = `${contentReference.slice(0, end)}${hash}`
    return { ...build, contentReference: changed, reference: reference === contentReference ? changed : reference }
  })
}

/** The characters of the hash at the end of the tag. */
const HASH = 12
