import { copyIn } from '../../../adapters/registry/registry.ts'
import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../../compiler/values/printable.ts'
import type { CopiedImage } from '../../../operations/platform/copy-platform-images.ts'
import { installedImages, withDigests } from '../../../platform/install/installed-images.ts'
import { PLATFORM_IMAGES } from '../../../platform/install/manifests/images.ts'
import { ownDockerfile } from '../../../platform/install/own-dockerfiles.ts'
import { version } from '../../../project/version.ts'
import type { Context } from '../../command.ts'
import type { PlatformImagesValues } from '../../commands/platform/platform.ts'
import { toTerminal } from '../../terminal/operation-events.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import { toTable } from '../../terminal/table.ts'
import { withDeadline } from '../deadline.ts'
import { onCluster } from './platform.ts'
import { pushPlatformImages } from './push-platform-images.ts'

/** Default timeout in milliseconds: base images are pulled, and packages installed. */
const TIMEOUT = 30 * 60_000

/** Lists the images of the platform, or builds and pushes them. */
export async function runImages(context: Context, values: PlatformImagesValues): Promise<number> {
  const { io } = context
  const { push: registry, rebuild, baseRegistry, timeout } = values
  if (values.installed) return printInstalled(context, values)
  if (registry === undefined) {
    const [lost] = [values.from && '--from', values.bases && '--bases', rebuild && '--rebuild'].filter(Boolean)
    if (lost) throw new UsageError(`\`${lost}\` needs \`--push\``, { hint: 'name the registry: `--push HOST/PATH`' })
    return printOwn(context, values)
  }
  const { from, bases } = values
  if (bases && (from !== undefined || rebuild || baseRegistry !== undefined)) throw notCombined('--bases', values)
  if (from !== undefined && (rebuild || baseRegistry !== undefined)) throw notCombined('--from', values)
  const hint = 'wait longer with `--timeout`; images that were pushed are not built again'
  return withDeadline(io, { timeout, fallback: TIMEOUT, hint }, async signal => {
    const pushed =
      bases || from !== undefined
        ? await copyImages(context, { registry, from }, signal)
        : await buildImages(context, { ...values, registry }, signal)
    if (!pushed) return 1
    if (values.output === 'json') io.stdout.write(`${jsonText(pushed, 2)}\n`)
    else
      for (const { name, image } of pushed)
        io.stdout.write(values.output === 'name' ? `${image}\n` : `${name}: ${image}\n`)
    return 0
  })
}

async function buildImages(
  context: Context,
  { registry, baseRegistry, rebuild, platform, context: named }: PlatformImagesValues & { readonly registry: string },
  signal: AbortSignal,
): Promise<readonly CopiedImage[] | undefined> {
  const platforms = platform?.flatMap(one => one.split(','))
  const input = { registry, names: PLATFORM_IMAGES, baseRegistry, rebuild, platforms, context: named }
  const images = await pushPlatformImages(context, input, signal)
  return images && [...images].map(([name, image]) => ({ name, image }))
}

/**
 * Copies the images of the platform from the registry `from`. Without `from`, copies the base images of the platform.
 */
async function copyImages(
  context: Context,
  { registry, from }: { readonly registry: string; readonly from: string | undefined },
  signal: AbortSignal,
): Promise<readonly CopiedImage[]> {
  const { baseCopies, copyPlatformImages, ownCopies } = await import(
    '../../../operations/platform/copy-platform-images.ts'
  )
  const progress = await startProgress(context.io, context.logLevel, 'text', () => Date.now())
  try {
    const world = { workspace: context.io, signal, on: toTerminal(context, progress, 'text') }
    return await copyPlatformImages(world, from === undefined ? baseCopies(registry) : ownCopies(from, registry))
  } finally {
    progress.pause()
  }
}

function notCombined(option: string, { from, rebuild }: PlatformImagesValues): UsageError {
  const other = option !== '--from' && from !== undefined ? '--from' : rebuild ? '--rebuild' : '--base-registry'
  return new UsageError(`\`${option}\` and \`${other}\` cannot be combined`, {
    hint: `\`${option}\` copies images, and builds none`,
  })
}

/** Returns the reference of a base image without its digest, for a table. JSON output includes the digest. */
const withoutDigest = (image: string): string => image.replace(/@.*/, '')

/** Prints the images of the platform for this version of devctl, with their base images. */
function printOwn({ io: { stdout } }: Context, { baseRegistry, output }: PlatformImagesValues): number {
  const images = PLATFORM_IMAGES.map(name => {
    const bases = ownDockerfile(name).bases.map(({ image }) => (baseRegistry ? copyIn(baseRegistry, image) : image))
    return { name, tag: version(), bases }
  })
  if (output === 'json') stdout.write(`${jsonText(images, 2)}\n`)
  else if (output === 'name') stdout.write(images.map(({ name, tag }) => `${name}:${tag}\n`).join(''))
  else
    stdout.write(
      toTable([
        ['Image', 'Tag', 'Base images'],
        ...images.map(({ name, tag, bases }) => [name, tag, bases.map(withoutDigest).join(', ')]),
      ]),
    )
  return 0
}

/** Prints the images of the installed platform, with the digests that their registry reports. */
const printInstalled = (context: Context, values: PlatformImagesValues): Promise<number> =>
  onCluster(context, values, async (_session, world) => {
    const { stdout, env } = { ...context.io }
    const images = await withDigests(await installedImages(world), { env, signal: world.signal })
    if (values.output === 'json') stdout.write(`${jsonText(images, 2)}\n`)
    else if (values.output === 'name') stdout.write(images.map(({ image }) => `${image}\n`).join(''))
    else stdout.write(toTable([['Image', 'Digest'], ...images.map(({ image, digest }) => [image, digest])]))
    return 0
  })
