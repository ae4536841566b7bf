import { describeArtifactProblem } from '../../adapters/registry/artifact-problem.ts'
import { copyImage, type ImageCopy } from '../../adapters/registry/copy-image.ts'
import { copyIn } from '../../adapters/registry/registry.ts'
import { describeProblem } from '../../adapters/registry/registry-problem.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { HELPER_IMAGES } from '../../compiler/values/images/helper-images.ts'
import { PLATFORM_IMAGES, platformImages } from '../../platform/install/manifests/images.ts'
import { ownDockerfile } from '../../platform/install/own-dockerfiles.ts'
import type { LocalContext } from '../../project/session.ts'
import { version } from '../../project/version.ts'

/** A copied image. */
export interface CopiedImage {
  readonly name: string
  /** Reference with the digest. */
  readonly image: string
}

interface NamedCopy extends ImageCopy {
  readonly name: string
}

/** Returns the copies to make of the platform's images, from one registry to another. */
export function ownCopies(from: string, to: string): readonly NamedCopy[] {
  const [sources, targets] = [platformImages(from, version()), platformImages(to, version())]
  return PLATFORM_IMAGES.map(name => ({ name, from: sources[name], to: targets[name] }))
}

/**
 * Returns the copies to make of the base images, and of the images that devctl adds to applications. In the target
 * registry, they get the names that `--base-registry` and `DEVCTL_BASE_REGISTRY` expect.
 */
export function baseCopies(to: string): readonly NamedCopy[] {
  const images = PLATFORM_IMAGES.flatMap(name => ownDockerfile(name).bases.map(({ image }) => image))
  const helpers = HELPER_IMAGES.map(image => (image.includes('/') ? image : `docker.io/library/${image}`))
  return [...new Set([...images, ...helpers])].map(image => ({ name: image, from: image, to: copyIn(to, image) }))
}

/**
 * Copies images between registries, one after the other, without a builder. Throws a UserError for the first image that
 * cannot be read or pushed, and the signal's abort reason.
 */
export async function copyPlatformImages(
  { workspace: { env }, signal, on }: Pick<LocalContext, 'workspace' | 'signal' | 'on'>,
  copies: readonly NamedCopy[],
): Promise<readonly CopiedImage[]> {
  const copied: CopiedImage[] = []
  for (const { name, from, to } of copies) {
    const outcome = await copyImage({ from, to }, { env, signal })
    if ('problem' in outcome) {
      const { problem, of } = outcome
      const { message, ...more } =
        of === 'from' ? describeProblem(from, problem) : describeArtifactProblem(to, problem, 'push')
      throw new UserError(message, more)
    }
    const { digest, isNew } = outcome
    on({ type: 'note', text: isNew ? `${from}: copied to ${to}` : `${to}: is in the registry already` })
    copied.push({ name, image: `${to}@${digest}` })
  }
  return copied
}
