import { copyIn } from '../../adapters/registry/registry.ts'
import { type BuildOutcome, outcomeOf } from '../../builds/build-outcome.ts'
import { type ChosenBuilder, chooseBuilder } from '../../builds/builder/choose-builder.ts'
import { missingImagesBuilder } from '../../builds/ensure-images.ts'
import type { BuildEvent } from '../../builds/events.ts'
import type { PlannedBuild } from '../../builds/plan/planned-build.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { PLAIN_BUILD } from '../../compiler/values/images/build-spec.ts'
import { DEFAULT_PLATFORM } from '../../compiler/values/images/platform.ts'
import { type PlatformImageName, platformImages } from '../../platform/install/manifests/images.ts'
import { ownDockerfile } from '../../platform/install/own-dockerfiles.ts'
import { findTarget } from '../../project/contexts/target.ts'
import type { LocalContext } from '../../project/session.ts'
import { version } from '../../project/version.ts'
import type { Workspace } from '../../project/workspace.ts'

export interface PlatformImagesInput {
  /** Registry to push the images to, perhaps with a path. */
  readonly registry: string
  readonly names: readonly PlatformImageName[]
  /** Registry with copies of the base images. If absent, the base images come from their original registries. */
  readonly baseRegistry?: string | undefined
  /** True to build images that the registry already has, with current base images. */
  readonly rebuild?: boolean
  /** Platforms of the nodes, such as `linux/arm64`. If absent, the platform of the builder. */
  readonly platforms?: readonly string[] | undefined
  /** Name of the context whose builder is used. If absent, the context that every command uses. */
  readonly context?: string | undefined
}

/**
 * Builds the images of the platform that the registry lacks, with the user's builder, and pushes them. Throws a
 * UserError if no builder answers, and the signal's abort reason.
 */
export async function buildPlatformImages(
  { workspace, signal, on }: LocalContext<BuildEvent>,
  { registry, names, baseRegistry, rebuild = false, platforms, context }: PlatformImagesInput,
): Promise<BuildOutcome> {
  const references = platformImages(registry, version())
  const platform = workspace.env[DEFAULT_PLATFORM]
  const builds = names.map(name => planned(name, references[name], { baseRegistry, platform }))
  const chosen = await findBuilder(workspace, context)
  const settings = { ...(rebuild && { noCache: true, pull: true }), ...(platforms && { platforms }) }
  return outcomeOf(on, () =>
    missingImagesBuilder({ workspace, on }, chosen, settings).ensure(builds, {
      build: rebuild ? 'all' : 'changed',
      given: new Map(),
      signal,
    }),
  )
}

/**
 * Chooses the user's builder, without asking a platform. The builders of a platform are never used, because they push
 * only to the registry of users' images.
 */
async function findBuilder(
  workspace: Pick<Workspace, 'cwd' | 'env'>,
  context: string | undefined,
): Promise<ChosenBuilder> {
  try {
    const { stored } = await findTarget(workspace, { ...(context !== undefined && { context }) })
    return chooseBuilder(workspace, stored)
  } catch (error) {
    // A build needs no context: that of a platform may not exist yet, or its login may have ended.
    if (context !== undefined || !(error instanceof UserError)) throw error
    return chooseBuilder(workspace, undefined)
  }
}

function planned(
  name: PlatformImageName,
  reference: string,
  { baseRegistry, platform }: { readonly baseRegistry: string | undefined; readonly platform: string | undefined },
): PlannedBuild {
  const { path, context, bases } = ownDockerfile(name)
  const copies = baseRegistry === undefined ? [] : bases
  const spec = {
    ...PLAIN_BUILD,
    platforms: platform ? [platform] : [],
    context: { folder: context },
    dockerfile: { path },
    args: new Map(copies.map(({ argument, image }) => [argument, copyIn(baseRegistry!, image)])),
  }
  // The tag is the version of the package, so an image with this name has this content.
  const names = { reference, contentReference: reference, tags: [] }
  return { service: name, span: undefined, ...names, dependsOn: [], specOf: () => spec }
}
