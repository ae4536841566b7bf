import { describeArtifactProblem } from '../adapters/registry/artifact-problem.ts'
import { moveTags } from '../adapters/registry/move-tags.ts'
import { registryOf } from '../adapters/registry/registry.ts'
import { describeProblem, type RegistryProblem } from '../adapters/registry/registry-problem.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { isPinned } from '../compiler/values/images/image-reference.ts'
import { buildImages } from './build-images.ts'
import type { EnsureContext, ImageBuilder } from './builder/builder.ts'
import type { ChosenBuilder } from './builder/choose-builder.ts'
import { type FoundImages, findImages } from './find-images.ts'
import type { BuildSettings } from './plan/image-input.ts'
import { refuseOfficialNames } from './plan/official-names.ts'
import type { PlannedBuild } from './plan/planned-build.ts'
import { registryOptions } from './plan/registry-options.ts'
import { distinctBuilds, distinctContents, refuseSameNames } from './plan/same-images.ts'

/**
 * Returns a builder that builds and pushes the images whose current content no registry has. Each image also gets a tag
 * that is the hash of its inputs. If a registry already has that tag, the image is not built again; its other names are
 * moved to the existing image.
 */
export function missingImagesBuilder(
  world: EnsureContext,
  chosen: ChosenBuilder,
  settings: BuildSettings = {},
): ImageBuilder {
  return {
    async ensure(all, { build, signal, given }) {
      hideSecrets(all, world)
      const isDeploy = build === 'missing'
      const mayPush = settings.push !== false
      if (mayPush) refuseSameNames(all)
      const { builds: distinct, allOf } = distinctBuilds(all)
      if (mayPush) refuseOfficialNames(distinct.filter(one => !isDeploy || one.contentReference !== undefined))
      const looked = distinct.filter(({ reference }) => build !== 'all' || isPinned(reference))
      const found = await findImages(looked, { ...world, isDeploy, signal })
      const present = await withNames(found, isDeploy, world, signal)
      // A deploy may continue with images that another machine has pushed; `build` must build them.
      const known = isDeploy ? deployable(distinct, present, found.problems, world.on) : present
      if (!isDeploy) tellUnknown(looked, found.problems, world.on)
      const missing = distinct.filter(({ service }) => !known.has(service))
      if (missing.length === 0) return allOf(withDigests(known))
      // A deploy may use an existing official image by its name, so these names are checked only now.
      if (mayPush) refuseOfficialNames(missing)
      if (mayPush) tellDenied(missing, found.problems, world.on)
      const images = new Map([...given, ...known])
      // The build reports unknown values.
      const specOf = (image: PlannedBuild) => image.specOf(new Reporter(), images, new Set(settings.secrets?.keys()))
      const { builds, twins, allOf: withTwins } = distinctContents(missing, specOf)
      for (const [service, first] of twins)
        world.on({ type: 'note', text: `${service}: has the same build as ${first}, and is built with it` })
      const built = await naming(isDeploy ? found.outdated : [], () =>
        buildImages(builds, { ...world, chosen, settings, signal, images }),
      )
      return allOf(withDigests(new Map([...known, ...withTwins(built)])))
    },
  }
}

/**
 * Returns a builder that builds nothing and only checks which images exist. It returns no digest for an image that a
 * deploy would build, so that image is referenced by its tag.
 */
export function presentImagesOnly(world: EnsureContext): ImageBuilder {
  return {
    isLooking: true,
    async ensure(all, { signal }) {
      hideSecrets(all, world)
      refuseSameNames(all)
      const { builds: images, allOf } = distinctBuilds(all)
      const found = await findImages(images, { ...world, isDeploy: true, signal })
      for (const [service, reference] of found.images) tellPresent(service, reference, [], world.on)
      for (const { service } of images) {
        const problem = found.problems.get(service)
        if (problem && isToBuild(problem)) world.on({ type: 'note', text: `${service}: its image would be built` })
      }
      return allOf(withDigests(deployable(images, found.images, found.problems, world.on)))
    },
  }
}

/** Registers the hidden values of images as secrets to mask, because an error may show a line that contains one. */
const hideSecrets = (images: readonly PlannedBuild[], { workspace }: EnsureContext): void =>
  workspace.secrets?.add(images.flatMap(({ hidden }) => hidden?.secrets ?? []))

/** Returns only the images that are referenced by a digest; omits images that are referenced by a tag. */
const withDigests = (images: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...images].filter(([, reference]) => isPinned(reference)))

/**
 * Points the names of images to their current content in the registries. Returns the images whose names were all moved.
 * If a registry refuses to move a name, the image is not returned, so that the builder pushes it. For a deploy, the
 * image is returned anyway, because a deploy needs only digests.
 */
async function withNames(
  { images, moves }: FoundImages,
  isDeploy: boolean,
  world: EnsureContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { on } = world
  const all = [...moves.values()].flat()
  const refused =
    all.length > 0 ? await moveTags(all, registryOptions(world, signal)) : new Map<string, RegistryProblem>()
  const present = new Map<string, string>()
  for (const [service, reference] of images) {
    const names = (moves.get(service) ?? []).map(({ name }) => name)
    const kept = names.filter(name => refused.has(name))
    if (kept.length > 0 && !isDeploy) continue
    for (const name of kept) {
      const { message, hint } = describeArtifactProblem(name, refused.get(name)!, 'push')
      const text = `${message}; the name still points to another image, and the right one is deployed by its digest`
      on({ type: 'warning', text, ...(hint !== undefined && { hint }) })
    }
    const moved = names.filter(name => !refused.has(name))
    tellPresent(service, reference, moved, on)
    present.set(service, reference)
  }
  return present
}

function tellPresent(name: string, reference: string, moved: readonly string[], on: EnsureContext['on']): void {
  const digest = reference.slice(reference.indexOf('@') + 1)
  on({ type: 'build-ended', name, outcome: 'present', digest, ...(moved.length > 0 && { moved }), seconds: 0 })
}

/**
 * Returns the references of the images that a deploy can use: the present images, and without a digest the images whose
 * registries do not report whether they have them. Reports each of those registries once.
 */
function deployable(
  images: readonly PlannedBuild[],
  present: ReadonlyMap<string, string>,
  problems: FoundImages['problems'],
  on: EnsureContext['on'],
): ReadonlyMap<string, string> {
  const unknown = ofFailingRegistries(images, problems)
  for (const [reference, problem] of firstOfEach(unknown))
    on({
      type: 'warning',
      text: `${describeProblem(reference, problem).message}; it is deployed by its tag`,
      hint: 'check the connection to the registry, or build and push with `--build`',
    })
  return new Map([...present, ...unknown.map(({ service, reference }) => [service, reference] as const)])
}

/**
 * Warns about images that are built because it is unknown whether their registries have them. Reports each registry
 * once.
 */
function tellUnknown(
  images: readonly PlannedBuild[],
  problems: FoundImages['problems'],
  on: EnsureContext['on'],
): void {
  for (const [reference, problem] of firstOfEach(ofFailingRegistries(images, problems)))
    on({ type: 'warning', text: `${describeProblem(reference, problem).message}; so it will be built` })
}

/**
 * Warns about images to which a registry denies access. The builder pushes with the same logins, so its push will often
 * fail, too. Reports no error, because some registries answer "denied" for a missing image.
 */
function tellDenied(images: readonly PlannedBuild[], problems: FoundImages['problems'], on: EnsureContext['on']): void {
  const denied = images.flatMap(({ service, reference }) => {
    const problem = problems.get(service)
    return problem?.kind === 'denied' ? [{ service, reference, problem }] : []
  })
  for (const [reference, problem] of firstOfEach(denied)) {
    const { message, hint } = describeProblem(reference, problem)
    const text = `${message}; it is built, but the registry may refuse the push`
    on({ type: 'warning', text, ...(hint !== undefined && { hint }) })
  }
}

interface UnknownImage extends Pick<PlannedBuild, 'service' | 'reference'> {
  readonly problem: RegistryProblem
}

/** Returns the images for which a registry does not report whether it has them. */
const ofFailingRegistries = (
  images: readonly PlannedBuild[],
  problems: FoundImages['problems'],
): readonly UnknownImage[] =>
  images.flatMap(({ service, reference }) => {
    const problem = problems.get(service)
    return problem && !isToBuild(problem) ? [{ service, reference, problem }] : []
  })

/** Returns the first image of each registry, with the registry's problem. */
function firstOfEach(images: readonly UnknownImage[]): Iterable<readonly [string, RegistryProblem]> {
  const first = new Map<string, readonly [string, RegistryProblem]>()
  for (const { reference, problem } of images) {
    const registry = registryOf(reference)
    if (!first.has(registry)) first.set(registry, [reference, problem])
  }
  return first.values()
}

/**
 * Returns true if the problem may mean that the image is missing. A registry may answer "denied" for an image that it
 * lacks.
 */
const isToBuild = ({ kind }: RegistryProblem): boolean => kind === 'missing' || kind === 'denied' || kind === 'invalid'

/**
 * Returns the result of `build`. If building is not possible at all, adds to the error which of the `outdated` images
 * could be deployed unchanged.
 */
async function naming<Result>(outdated: readonly PlannedBuild[], build: () => Promise<Result>): Promise<Result> {
  try {
    return await build()
  } catch (error) {
    if (!(error instanceof UserError) || outdated.length === 0) throw error
    const notes = outdated.map(
      ({ service, reference }) =>
        `\`${reference}\` is in the registry, but was not built by devctl from these files; \`--image ${service}=${reference}\` deploys it as it is`,
    )
    throw new UserError(error.message, {
      notes: [...error.notes, ...notes],
      ...(error.hint !== undefined && { hint: error.hint }),
      cause: error,
    })
  }
}
