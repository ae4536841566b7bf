import { resolveDigests } from '../../adapters/registry/registry-client.ts'
import { describeProblem } from '../../adapters/registry/registry-problem.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { version } from '../../project/version.ts'
import { ownContainers } from './checks/status.ts'
import type { InstallContext } from './install-context.ts'
import { findPlatform } from './installed.ts'
import { PLATFORM_IMAGES, type PlatformImageName, type PlatformImages, platformImages } from './manifests/images.ts'

/** An image that a platform runs. */
export interface PlatformImage {
  /** Reference to pull it by, such as `registry.example.com/devctl/platform:0.1.0`. */
  readonly image: string
  readonly digest: string
}

export interface ImagesContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** Returns the images of the installed platform. Throws a UserError if there is none. */
export async function installedImages(world: InstallContext): Promise<readonly string[]> {
  const found = await findPlatform(world)
  if (!found)
    throw new UserError('the cluster has no platform', {
      hint: 'leave out `--installed` to see the images of this version',
    })
  const containers = await ownContainers(world)
  const all = [...containers.map(({ image = '' }) => image), found.runnerImage ?? '']
  return [...new Set(all.filter(image => image !== ''))]
}

/**
 * Returns images with the digests that their registries report. If some digests cannot be found, throws a UserError
 * that names all images without a digest.
 */
export async function withDigests(
  images: readonly string[],
  { env, signal }: ImagesContext,
): Promise<readonly PlatformImage[]> {
  const resolved = await resolveDigests(images, { env, signal })
  const told = images.map(image => ({ image, found: resolved.get(image)! }))
  const [first, ...others] = told.flatMap(({ image, found }) =>
    'problem' in found ? [describeProblem(image, found.problem)] : [],
  )
  if (first)
    throw new UserError(first.message, {
      notes: [...first.notes, ...others.map(({ message }) => message)],
      ...(first.hint !== undefined && { hint: first.hint }),
    })
  return told.flatMap(({ image, found }) => ('digest' in found ? [{ image, digest: found.digest }] : []))
}

/** The images of this version in a registry. */
export interface FoundPlatformImages {
  readonly images: PlatformImages
  /** Images that the registry reports as missing. */
  readonly missing: readonly PlatformImageName[]
}

/** Timeout for the registry of an installation, in milliseconds. This machine may not be able to reach it. */
const ASK = 8000

/**
 * Returns the images of this version with the digests that the registry reports. A node that has an older image under
 * the same tag then pulls the image again, so that all Pods run the same image. Images without a reported digest are
 * returned unchanged.
 */
export async function pinnedImages(registry: string, { env, signal }: ImagesContext): Promise<FoundPlatformImages> {
  const images = platformImages(registry, version())
  const deadline = AbortSignal.timeout(ASK)
  const resolved = await resolveDigests(Object.values(images), {
    env,
    signal: AbortSignal.any([signal, deadline]),
  }).catch((error: unknown) => {
    if (!deadline.aborted || signal.aborted) throw error
    return undefined
  })
  const pin = (image: string) => {
    const found = resolved?.get(image)
    return found && 'digest' in found ? `${image}@${found.digest}` : image
  }
  const { platform, runner, registry: own, buildkit } = images
  const isMissing = (image: string) => {
    const found = resolved?.get(image)
    return found !== undefined && 'problem' in found && found.problem.kind === 'missing'
  }
  return {
    missing: PLATFORM_IMAGES.filter(name => isMissing(images[name])),
    images: { platform: pin(platform), runner: pin(runner), registry: pin(own), buildkit: pin(buildkit) },
  }
}
