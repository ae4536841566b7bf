import { jsonText } from '../../../compiler/values/printable.ts'
import {
  imagesIn,
  installedImages,
  isNeeded,
  mirrored,
  type PlatformImage,
  withDigests,
} from '../../../platform/install/installed-images.ts'
import type { Context } from '../../command.ts'
import type { PlatformImagesValues } from '../../commands/platform/platform.ts'
import { toTable } from '../../terminal/table.ts'
import { withDeadline } from '../deadline.ts'
import { onCluster } from './platform.ts'

/** Prints the images of the platform with their digests, or the commands that copy them to another registry. */
export function runImages(context: Context, values: PlatformImagesValues): Promise<number> {
  const { io } = context
  const { from, timeout } = values
  const print = async (images: readonly string[], signal: AbortSignal) => {
    printImages(
      context,
      values,
      await withDigests(images, { env: io.env, signal }, from === undefined ? undefined : isNeeded),
    )
    return 0
  }
  // The list of images to copy needs no cluster, because the platform may not be installed yet.
  if (from !== undefined)
    return withDeadline(io, { timeout, hint: 'does the registry answer?' }, signal => print(imagesIn(from), signal))
  return onCluster(context, values, async (_session, world) => print(await installedImages(world), world.signal))
}

function printImages(
  { io: { stdout, stderr }, logLevel }: Context,
  { imageRegistry, output }: PlatformImagesValues,
  images: readonly PlatformImage[],
): void {
  const named = (one: PlatformImage) => imageRegistry && { mirror: mirrored(one, imageRegistry) }
  if (output === 'name') stdout.write(images.map(one => `${byDigest(one)}\n`).join(''))
  else if (output === 'json')
    stdout.write(
      `${jsonText(
        images.map(one => ({ ...one, ...named(one) })),
        2,
      )}\n`,
    )
  else if (imageRegistry === undefined)
    stdout.write(toTable([['Image', 'Digest'], ...images.map(({ image, digest }) => [image, digest])]))
  else {
    for (const one of images)
      stdout.write(`skopeo copy --all docker://${byDigest(one)} docker://${mirrored(one, imageRegistry)}\n`)
    if (logLevel !== 'error')
      stderr.write(`note: then \`devctl platform install … --image-registry ${imageRegistry}\`\n`)
  }
}

/** Returns the reference without its tag, because the tag could move before the image is copied. */
function byDigest({ image, digest }: PlatformImage): string {
  const name = image.split('@')[0]!
  return `${name.replace(/:[^:/]+$/, '')}@${digest}`
}
