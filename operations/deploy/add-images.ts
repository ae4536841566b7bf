import type { ImageBuilder } from '../../builds/builder/builder.ts'
import type { WantedImages } from '../../builds/image-configs.ts'
import type { PlannedBuild } from '../../builds/plan/planned-build.ts'
import type { Project } from '../../compiler/compose/project.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { CompiledProject } from '../../project/compile-files.ts'
import type { Part } from '../../project/names/named-services.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { ForCluster } from './input.ts'

/** Input of `addImages`, besides the compiled project. */
export interface AddImagesInput {
  readonly workspace: Workspace
  readonly options: ForCluster
  readonly project: OpenProject
  readonly part: Part | undefined
  /** Services whose images are needed; undefined for all. */
  readonly chosen: ReadonlySet<string> | undefined
  readonly registry: string | undefined
  readonly images: ImageBuilder
  readonly signal: AbortSignal
}

/** Project that was planned again with its images; the unchanged project if the images could not be built. */
interface WithImages {
  readonly compilation: CompiledProject
  /** References with digests, by service. */
  readonly built: ReadonlyMap<string, string>
  /** Errors of the builder. */
  readonly refused: readonly Diagnostic[]
  readonly notes: readonly string[]
}

/** Builds or finds the images of a project, and plans the project with the digests and configurations of the images. */
export async function addImages(compilation: CompiledProject, input: AddImagesInput): Promise<WithImages> {
  const { workspace, options, project, chosen, registry, images, part, signal } = input
  const ofManifest = async (plan: Plan): Promise<readonly PlannedBuild[]> => {
    if (part || images.isLooking || !manifestOf(project)?.build.size) return []
    const { manifestBuilds } = await import('../../builds/plan/manifest-builds.ts')
    return manifestBuilds(workspace, options, project, { plan, registry, tag: options.tag, isDeploy: true })
  }
  let built: ReadonlyMap<string, string> = new Map()
  try {
    const builds = await neededBuilds(compilation, chosen, ofManifest)
    built = await ensureImages(compilation, builds, options, images, signal)
    const wanted = await wantedImages(compilation, built, chosen)
    if (wanted.built.size + wanted.plain.size + wanted.programs.size === 0)
      return { compilation, built, refused: [], notes: [] }
    const { knownImages } = await import('../../builds/image-configs.ts')
    const { env, platformImages } = workspace
    const loginTo = platformImages && { loginTo: (registry: string) => platformImages.login(registry) }
    const known = await knownImages(wanted, { env, signal, ...loginTo })
    const notes = [...known.notes].flatMap(([service, note]) => (!chosen || chosen.has(service) ? [note] : []))
    // Images that were built are referenced by digest.
    const { configs, programs } = known
    const planned = compilation.withImages?.({ references: wanted.built, configs, programs }) ?? compilation
    return { compilation: planned, built, refused: [], notes }
  } catch (error) {
    const { NotBuilt } = await import('../../builds/builder/builder.ts')
    if (!(error instanceof NotBuilt)) throw error
    return { compilation, built, refused: error.diagnostics, notes: [] }
  }
}

/**
 * Returns the builds of the services in `chosen`, or of all services if it is undefined, and the builds of the
 * manifest.
 */
async function neededBuilds(
  { project, plan }: CompiledProject,
  chosen: ReadonlySet<string> | undefined,
  ofManifest: (plan: Plan) => Promise<readonly PlannedBuild[]>,
): Promise<readonly PlannedBuild[]> {
  // If there are errors, nothing is deployed; without a plan, there is nothing to build for.
  if (!plan || !project) return []
  return [...(await buildsOf(project, plan, chosen)), ...(await ofManifest(plan))]
}

/**
 * Builds or finds the images of services with `build`. Returns their references with digests. Throws like
 * `ImageBuilder.ensure`.
 */
async function ensureImages(
  { project, plan }: CompiledProject,
  builds: readonly PlannedBuild[],
  { build = false }: ForCluster,
  images: ImageBuilder,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (!plan || !project || builds.length === 0) return new Map()
  const built = await images.ensure(builds, { build: build ? 'all' : 'missing', given: plan.images, signal })
  // Commands do not need images of services that only serve as a base for other builds.
  const inner = new Set(project.contextServices.keys())
  return new Map([...built].filter(([service]) => !inner.has(service)))
}

/**
 * Returns the images whose configurations refine the plan: built images, which services without `build` may share;
 * plain images that are available; and images in any registry that have to be searched for programs that a chosen
 * service needs.
 */
async function wantedImages(
  { plan, project }: CompiledProject,
  built: ReadonlyMap<string, string>,
  chosen: ReadonlySet<string> | undefined,
): Promise<WantedImages> {
  if (!plan || !project) return { built: new Map(), plain: new Map(), programs: new Map() }
  const programs = await wantedPrograms(plan, built, chosen)
  if (![...project.services.values()].some(({ build }) => build))
    return { built: new Map(), plain: new Map(), programs }
  const [{ withSharers }, { plainImages }] = await Promise.all([
    import('../../builds/plan/shared-images.ts'),
    import('../../builds/image-configs.ts'),
  ])
  const ofServices = withSharers(plan.images, built)
  return { built: ofServices, plain: plainImages(project, plan.images, ofServices), programs }
}

/**
 * Returns the images of the `chosen` services whose programs are needed but unknown. Excludes images that this project
 * builds: if they exist, their configurations are read anyway.
 */
async function wantedPrograms(
  { images, builds, unknownPrograms }: Plan,
  built: ReadonlyMap<string, string>,
  chosen: ReadonlySet<string> | undefined,
): Promise<ReadonlyMap<string, string>> {
  const wanted = unknownPrograms.filter(service => !built.has(service) && (!chosen || chosen.has(service)))
  if (wanted.length === 0) return new Map()
  const { sharersOf } = await import('../../builds/plan/shared-images.ts')
  const ofBuilds = new Set(
    sharersOf(
      images,
      builds.map(({ service }) => service),
    ),
  )
  return new Map([...images].filter(([service]) => wanted.includes(service) && !ofBuilds.has(service)))
}

/** Returns the builds of all services, or only of those in `chosen`. */
async function buildsOf(
  project: Project,
  plan: Plan,
  chosen: ReadonlySet<string> | undefined,
): Promise<readonly PlannedBuild[]> {
  if (plan.builds.length === 0) return []
  const { plannedBuilds } = await import('../../builds/plan/planned-builds.ts')
  return plannedBuilds(project, plan).filter(({ service }) => !chosen || chosen.has(service))
}
