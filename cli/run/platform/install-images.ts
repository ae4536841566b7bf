import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { isPinned } from '../../../compiler/values/images/image-reference.ts'
import type { FoundPlatformImages } from '../../../platform/install/installed-images.ts'
import { type Installation, imagesUsed } from '../../../platform/install/manifests/server.ts'
import { version } from '../../../project/version.ts'
import type { Context } from '../../command.ts'
import type { PlatformInstallValues } from '../../commands/platform/platform.ts'
import { isAgreed } from '../../terminal/io.ts'
import { pushPlatformImages } from './push-platform-images.ts'

/** An installation, and the result of the search for its images in its registry. */
interface InstallImages {
  readonly registry: string
  readonly found: FoundPlatformImages
  readonly one: Installation
  /** Context of the kubeconfig. Its stored settings may name a builder. */
  readonly cluster: string
  /** Throws if the cluster would reject the installation. Called before the images are built, which takes minutes. */
  readonly check: () => Promise<unknown>
}

/**
 * Builds and pushes the images of an installation that its registry lacks, after asking on a terminal. Returns the
 * images; undefined if the user declines or an image cannot be built, which was reported. Throws a UserError if no
 * builder answers.
 */
export async function ensureInstallImages(
  context: Context,
  { yes, baseRegistry }: Pick<PlatformInstallValues, 'yes' | 'baseRegistry'>,
  { registry, found, one, cluster, check }: InstallImages,
  signal: AbortSignal,
): Promise<FoundPlatformImages | undefined> {
  const { io, logLevel } = context
  const names = missingOf(found, one)
  if (names.length === 0) return found
  await check()
  const lacks = lackingText(registry, names)
  const elsewhere = `\`devctl platform images --push ${registry}\``
  const question = `${lacks}. Build and push ${names.length > 1 ? 'them' : 'it'}, which takes a few minutes?`
  if (!yes && io.choose && !(await isAgreed(io.choose, question))) {
    io.stderr.write(`nothing was changed; to build them later, or on another machine: ${elsewhere}\n`)
    return undefined
  }
  if (logLevel !== 'error') io.stderr.write(`${lacks}: building and pushing, which takes a few minutes\n`)
  try {
    const built = await pushPlatformImages(context, { registry, names, baseRegistry, context: cluster }, signal)
    const images = { ...found.images, ...Object.fromEntries(built ?? []) }
    return built && { images, missing: [] }
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
 * Returns a note if the registry lacks images or does not report their digests to this machine; empty if all images
 * have digests. Images can be missing if the command does not install anything, for example with `--print`, because
 * only an installation builds them.
 */
export function imagesNote(registry: string, found: FoundPlatformImages, one: Installation): string {
  const names = missingOf(found, one)
  if (names.length > 0)
    return `note: ${lackingText(registry, names)}: \`devctl platform images --push ${registry}\` builds and pushes them\n`
  if ([one.image, one.runnerImage].every(isPinned)) return ''
  return `note: \`${registry}\` reports no digests of the images to this machine: nodes keep images that they already have under the same tag\n`
}

const missingOf = ({ missing }: FoundPlatformImages, one: Installation) =>
  imagesUsed(one).filter(name => missing.includes(name))

const lackingText = (registry: string, names: readonly string[]): string =>
  `\`${registry}\` has no ${names.map(name => `\`${name}:${version()}\``).join(', ')}`
