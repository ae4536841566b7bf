import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { FoundPlatformImages } from '../../../platform/install/installed-images.ts'
import type { PlatformImages } from '../../../platform/install/manifests/images.ts'
import { type Installation, imagesUsed } from '../../../platform/install/manifests/server.ts'
import { version } from '../../../project/version.ts'
import type { Context } from '../../command.ts'
import type { PlatformInstallValues } from '../../commands/platform/platform.ts'
import { isAgreed } from '../../terminal/io.ts'
import { pushPlatformImages } from './push-platform-images.ts'

/**
 * Builds and pushes the images of an installation that its registry lacks, after asking on a terminal. Returns all
 * images; undefined if the user declines or an image cannot be built, which was reported. Throws a UserError if no
 * builder answers.
 */
export async function ensureInstallImages(
  context: Context,
  { yes, baseRegistry, context: named }: Pick<PlatformInstallValues, 'yes' | 'baseRegistry' | 'context'>,
  {
    registry,
    found,
    one,
  }: { readonly registry: string; readonly found: FoundPlatformImages; readonly one: Installation },
  signal: AbortSignal,
): Promise<PlatformImages | undefined> {
  const { io, logLevel } = context
  const names = missingOf(found, one)
  if (names.length === 0) return found.images
  const lacks = lackingText(registry, names)
  const elsewhere = `\`devctl platform images --push ${registry}\``
  if (
    !yes &&
    io.choose &&
    !(await isAgreed(
      io.choose,
      `${lacks}. Build and push ${names.length > 1 ? 'them' : 'it'}, which takes a few minutes?`,
    ))
  ) {
    io.stderr.write(`nothing was changed; to build them later, or on another machine: ${elsewhere}\n`)
    return undefined
  }
  if (logLevel !== 'error') io.stderr.write(`${lacks}: building and pushing, which takes a few minutes\n`)
  try {
    const built = await pushPlatformImages(context, { registry, names, baseRegistry, context: named }, signal)
    if (!built) return undefined
    return { ...found.images, ...(Object.fromEntries(built) as Partial<PlatformImages>) } // by the given names
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError(error.message, {
      notes: [...error.notes, lacks],
      hint: `${error.hint === undefined ? '' : `${error.hint}; or `}build the images on another machine: ${elsewhere}`,
      cause: error,
    })
  }
}

/**
 * Returns a note about images that are not installed by digest: missing ones, which only an installation builds, or
 * those of a registry that this machine cannot ask. Empty if there are none.
 */
export function imagesNote(registry: string, found: FoundPlatformImages, one: Installation): string {
  const names = missingOf(found, one)
  const isByDigest = [one.image, one.runnerImage].every(image => image.includes('@'))
  if (isByDigest) return ''
  if (names.length > 0)
    return `note: ${lackingText(registry, names)}: \`devctl platform images --push ${registry}\` builds and pushes them\n`
  return `note: \`${registry}\` reports no digests of the images to this machine: nodes keep images that they already have under the same tag\n`
}

const missingOf = ({ missing }: FoundPlatformImages, one: Installation) =>
  imagesUsed(one).filter(name => missing.includes(name))

const lackingText = (registry: string, names: readonly string[]): string =>
  `\`${registry}\` has no ${names.map(name => `\`${name}:${version()}\``).join(', ')}`
