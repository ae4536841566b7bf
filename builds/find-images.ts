import type { TagMove } from '../adapters/registry/move-tags.ts'
import { registryOf, repositoryOf } from '../adapters/registry/registry.ts'
import { type Resolved, resolveDigests } from '../adapters/registry/registry-client.ts'
import type { RegistryProblem } from '../adapters/registry/registry-problem.ts'
import { isPinned, parseImageReference } from '../compiler/values/images/image-reference.ts'
import type { EnsureContext } from './builder/builder.ts'
import { namesOf, type PlannedBuild } from './plan/planned-build.ts'
import { registryOptions } from './plan/registry-options.ts'
import { withDigest } from './plan/with-digest.ts'

interface FindOptions extends EnsureContext {
  /**
   * True if only the digests of images are needed, as in a deploy. An image of unknown content, whose name comes from
   * the user, is then used unchanged. An image also counts as found if its names in other repositories point to other
   * images.
   */
  readonly isDeploy: boolean
  readonly signal: AbortSignal
}

/** Images that registries already have with the content that a build would produce. */
export interface FoundImages {
  /** Found images by service, as references with digests. */
  readonly images: ReadonlyMap<string, string>
  /** Names that still point to other images and have to be moved to the found images, by service. */
  readonly moves: ReadonlyMap<string, readonly TagMove[]>
  /** Reasons why the remaining images were not found, by service. */
  readonly problems: ReadonlyMap<string, RegistryProblem>
  /** Builds whose current content was not found, but whose image name exists in the registry. */
  readonly outdated: readonly PlannedBuild[]
}

/** Asks the registries for the images that have the tag of their current content. Throws as `resolveDigests` does. */
export async function findImages(
  images: readonly PlannedBuild[],
  { isDeploy, signal, ...world }: FindOptions,
): Promise<FoundImages> {
  const asked = images.flatMap(image => [image.reference, provingName(image, isDeploy) ?? [], image.tags].flat())
  const resolved = await resolveDigests(asked, registryOptions(world, signal))
  const found = new Map<string, string>()
  const moves = new Map<string, readonly TagMove[]>()
  const problems = new Map<string, RegistryProblem>()
  const outdated: PlannedBuild[] = []
  for (const image of images) {
    const answer = answerFor(image, resolved, isDeploy)
    if ('problem' in answer) {
      problems.set(image.service, answer.problem)
      if (digestIn(resolved, image.reference) !== undefined) outdated.push(image)
      continue
    }
    const { digest, stale } = answer
    if (stale.length > 0)
      moves.set(
        image.service,
        stale.map(name => ({ name, digest })),
      )
    found.set(image.service, withDigest(image.reference, digest))
  }
  return { images: found, moves, problems, outdated }
}

/**
 * Returns the name whose existence in a registry proves that the registry has the current content of an image;
 * undefined if there is no such name. For an image of unknown content, a deploy returns `reference`, because a deploy
 * uses such an image unchanged.
 */
function provingName({ reference, contentReference, isMoving }: PlannedBuild, isDeploy: boolean): string | undefined {
  if (isPinned(reference)) return reference
  if (isMoving && contentReference !== undefined) return undefined
  return contentReference ?? (isDeploy ? reference : undefined)
}

type Answer = { readonly digest: string; readonly stale: readonly string[] } | { readonly problem: RegistryProblem }

/**
 * Returns the digest of an image, and in `stale` the names of the image that still point to other images and can be
 * moved to the digest. If the image was not found, returns the problem instead.
 */
function answerFor(image: PlannedBuild, resolved: ReadonlyMap<string, Resolved>, isDeploy: boolean): Answer {
  const proof = provingName(image, isDeploy)
  const found = proof === undefined ? undefined : resolved.get(proof)!
  if (proof === undefined || !found) return { problem: { kind: 'missing' } }
  if ('problem' in found) return found
  const { digest } = found
  // An image that is used unchanged was built elsewhere, so this process may not move its names.
  const others = proof === image.contentReference ? namesOf(image).filter(name => name !== proof) : []
  const stale = others.filter(name => digestIn(resolved, name) !== digest)
  const movable = stale.filter(name => isSameRepository(name, proof))
  if (!isDeploy && movable.length < stale.length) return { problem: { kind: 'missing' } }
  return { digest, stale: movable }
}

function digestIn(resolved: ReadonlyMap<string, Resolved>, name: string): string | undefined {
  const found = resolved.get(name)
  return found && 'digest' in found ? found.digest : undefined
}

function isSameRepository(one: string, other: string): boolean {
  const [a, b] = [one, other].map(text => {
    const parsed = parseImageReference(text)
    return parsed.ok ? `${registryOf(parsed.value.name)}/${repositoryOf(parsed.value.name)}` : text
  })
  return a === b
}
