import { registryOf } from '../../adapters/registry/registry.ts'
import { type Resolved, resolveDigests } from '../../adapters/registry/registry-client.ts'
import { describeProblem, type RegistryProblem } from '../../adapters/registry/registry-problem.ts'
import { buildImages } from './build-images.ts'
import type { EnsuringWorld, ImageBuilder } from './builder.ts'
import type { ChosenBuilder } from './choose-builder.ts'
import type { BuildSettings } from './image-input.ts'
import type { PlannedBuild } from './planned-build.ts'
import { withDigest } from './with-digest.ts'

/**
 * Builds the images that no registry has, and pushes them: the tag of an image is the hash of what
 * it is built from, so an image that is there need not be built again.
 */
export function missingImagesBuilder(
  world: EnsuringWorld,
  chosen: ChosenBuilder,
  settings: BuildSettings = {},
): ImageBuilder {
  return {
    async ensure(images, { force, signal, given }) {
      const trusted = images.filter(({ hasContentTag }) => force === 'none' || (force === 'named' && hasContentTag))
      const known = await presentImages(trusted, world, signal)
      // A deploy may go on with images that another machine has pushed; who builds wants to have them built.
      const found = force === 'none' ? deployable(trusted, known, world.on) : known.images
      const missing = images.filter(({ service }) => !found.has(service))
      if (missing.length === 0) return withDigests(found)
      const built = await buildImages(missing, {
        ...world,
        chosen,
        settings,
        signal,
        images: new Map([...given, ...found]),
      })
      return withDigests(new Map([...found, ...built]))
    },
  }
}

/** Only looks which images are there: what a deploy would build goes by its tag. */
export function presentImagesOnly(world: EnsuringWorld): ImageBuilder {
  return {
    isLooking: true,
    async ensure(images, { signal }) {
      const known = await presentImages(images, world, signal)
      return withDigests(deployable(images, known, world.on))
    },
  }
}

/** Images that go by their tag have no digest. */
const withDigests = (images: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...images].filter(([, reference]) => reference.includes('@')))

interface Known {
  /** The images that registries have, by service, with their digests. */
  readonly images: ReadonlyMap<string, string>
  /** The registries' answers, by reference. */
  readonly resolved: ReadonlyMap<string, Resolved>
}

async function presentImages(
  images: readonly PlannedBuild[],
  { workspace: { env }, on }: EnsuringWorld,
  signal: AbortSignal,
): Promise<Known> {
  const references = images.map(({ reference }) => reference)
  const resolved = await resolveDigests(references, { env, signal })
  const present = images.flatMap(({ service, reference }) => {
    const found = resolved.get(reference)!
    if ('problem' in found) return []
    on({ type: 'build-ended', name: service, outcome: 'present', digest: found.digest, seconds: 0 })
    return [[service, withDigest(reference, found.digest)] as const]
  })
  return { images: new Map(present), resolved }
}

/** With the images of registries that cannot be asked, without a digest. Reports each of those registries once. */
function deployable(
  images: readonly PlannedBuild[],
  { images: present, resolved }: Known,
  on: EnsuringWorld['on'],
): ReadonlyMap<string, string> {
  const deployed = new Map(present)
  const told = new Set<string>()
  for (const { service, reference } of images) {
    const found = resolved.get(reference)!
    if (!('problem' in found) || isToBuild(found.problem)) continue
    deployed.set(service, reference)
    const registry = registryOf(reference)
    if (told.has(registry)) continue
    told.add(registry)
    on({
      type: 'warning',
      text: `${describeProblem(reference, found.problem).message}; it is deployed by its tag`,
      hint: 'check the connection to the registry, or build and push with `--build`',
    })
  }
  return deployed
}

/** Registries do not tell everybody that they lack an image: what is denied may be missing. */
const isToBuild = ({ kind }: RegistryProblem): boolean => kind === 'missing' || kind === 'denied' || kind === 'invalid'
