import type { ImageBuilder } from '../../builds/builder/builder.ts'
import { withoutOthers } from '../../builds/failures/remarks.ts'
import type { WantedImages } from '../../builds/image-configs.ts'
import type { PlannedBuild } from '../../builds/plan/planned-build.ts'
import { untaggedNote } from '../../builds/plan/untagged.ts'
import type { Project } from '../../compiler/compose/project.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { count, plural } from '../../compiler/diagnostics/render/summary.ts'
import type { Plan, RoutePlan } from '../../compiler/plan/plan.ts'
import { get, type Tree } from '../../compiler/text/tree.ts'
import { isRoute } from '../../constructs/kinds.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import type { Choices } from '../../environment/plan/choices.ts'
import { manifestsOf } from '../../environment/plan/part.ts'
import type { Source } from '../../environment/record/record.ts'
import { type CompiledProject, compileFiles } from '../../project/compile-files.ts'
import { deploySource } from '../../project/deploy-source.ts'
import { including, labelsOf, noSuchService, type Part, partOf } from '../../project/names/named-services.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import { withoutRemarks } from '../../project/own-errors.ts'
import type { OperationContext } from '../../project/session.ts'
import { chooseTargetDefaults, registryText } from '../../project/target-defaults.ts'
import type { ForCluster } from './input.ts'

/** Codes of warnings about copies of host volumes, which are not used while the service is developed. */
const ABOUT_COPIES: ReadonlySet<string> = new Set([
  'volumes/host-for-up',
  'volumes/host-read-only',
  'volumes/host-unversioned',
])

/** Project compiled for the cluster. */
export interface CompiledForCluster {
  readonly plan: Plan
  readonly synth: (plan: Plan) => readonly Manifest[]
  /** Services of the Compose file. */
  readonly services: Tree | undefined
  readonly source: Source
  /** Absolute path of the project's folder. */
  readonly directory: string
  /** Domain for the hosts of routes. If undefined, only routes with hosts of the user's own are created. */
  readonly domain: string | undefined
  readonly registry: string | undefined
  /** Images of services with `build`, by service, as references with digests. */
  readonly built: ReadonlyMap<string, string>
  /** Names of the routes that were omitted because there is no domain. */
  readonly keepRoutes: ReadonlySet<string>
  /** Part of the application to deploy. If absent, the full application. */
  readonly part?: Part
  /** Services whose Jobs run again, by their names in Kubernetes. */
  readonly rerun: ReadonlySet<string>
}

/** Project compiled for the cluster, whose warnings have not been reported yet. */
export interface PreparedForCluster extends CompiledForCluster {
  /** Warnings and notes about the files. */
  readonly warnings: readonly Diagnostic[]
  /** Reports the warnings and notes; `seen` are the warnings that the last deploy has already reported. */
  readonly tell: (seen?: ReadonlySet<Diagnostic>) => void
}

/** Project whose files have no errors, before its images are built. */
export type NotYetBuilt = Pick<
  CompiledForCluster,
  'plan' | 'synth' | 'services' | 'source' | 'keepRoutes' | 'part' | 'rerun'
> & {
  /** True if images have to be built, or found in a registry. */
  readonly hasBuilds: boolean
}

/** Context of a compilation for the cluster. */
export interface CompileContext extends Omit<OperationContext, 'session'> {
  readonly session: Pick<OperationContext['session'], 'namespace' | 'signal' | 'target'>
  /** Called before images are built. If it throws, no image is built. */
  readonly beforeBuild?: (project: NotYetBuilt) => Promise<void>
}

/** Result for files with errors, which were reported. */
export interface RefusedForCluster {
  readonly plan?: undefined
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Compiles for the cluster: values that `render` may leave open are errors here, and without a domain no routes are
 * created. Reports the errors but holds the warnings back, because variables that commands pass on later may resolve
 * them.
 */
export async function prepareForCluster(
  { workspace, session: { namespace, signal, target }, on, beforeBuild }: CompileContext,
  options: ForCluster,
  project: OpenProject,
  images: ImageBuilder,
): Promise<PreparedForCluster | RefusedForCluster> {
  const { startOrder = 'client' } = options
  const lasting = chooseTargetDefaults(workspace, options, project, target)
  const { domain, registry } = lasting
  const planning = { ...options, domain, registry, namespace, startOrder, includeSecrets: true } as const
  const names = options.services ?? []
  const extra = { project, forBuild: 'deploy' as const, leavesFoldersToUp: true, ...including(names, project) }
  const text = registryText(lasting)
  let compilation = await compileFiles(workspace, [], options, planning, extra)
  const part = compilation.plan && (await partOf(names, compilation.plan, compilation))
  if (text !== undefined && compilation.plan?.builds.length) on({ type: 'choice', text })
  const notes: string[] = []
  const chosen = part && (await chosenServices(compilation, part))
  const untagged = compilation.project && untaggedNote(compilation.project, options.tag, chosen)
  if (untagged !== undefined) notes.push(untagged)
  const manifest = manifestOf(project)
  const inCluster = async (compiled: CompiledProject, plan: Plan): Promise<InCluster | undefined> => {
    const { loaded } = compiled
    const directory = manifest?.folder ?? loaded?.directory
    if (directory === undefined) return undefined
    const files = manifest ? [manifest.path] : options.file
    return {
      ...(await withRoutes(plan, domain, part)),
      services: get(loaded?.tree, 'services'),
      source: deploySource(workspace, directory, files),
      directory,
      rerun: await toRerun(options.rerun ?? [], compiled, part),
      ...(part && { part }),
    }
  }
  if (beforeBuild && compilation.plan && errorsBesidesBuild(compilation) === 0) {
    const { plan } = compilation
    const found = await inCluster(compilation, plan)
    const hasBuilds = plan.builds.length > 0 || (!part && (manifest?.build.size ?? 0) > 0)
    if (found) await beforeBuild({ ...found, plan, hasBuilds })
  }
  let refused: readonly Diagnostic[] = []
  let built: ReadonlyMap<string, string> = new Map()
  try {
    const ofManifest = async (plan: Plan): Promise<readonly PlannedBuild[]> => {
      if (part || images.isLooking || !manifestOf(project)?.build.size) return []
      const { manifestBuilds } = await import('../../builds/plan/manifest-builds.ts')
      return manifestBuilds(workspace, options, project, { plan, registry, tag: options.tag, isDeploy: true })
    }
    const builds = await neededBuilds(compilation, chosen, ofManifest)
    built = await ensureImages(compilation, builds, options, images, signal)
    const wanted = await wantedImages(compilation, built)
    if (wanted.built.size + wanted.plain.size > 0) {
      const { knownImages } = await import('../../builds/image-configs.ts')
      const { env, platformImages } = workspace
      const loginTo = platformImages && { loginTo: (registry: string) => platformImages.login(registry) }
      const known = await knownImages(wanted, { env, signal, ...loginTo })
      for (const [service, note] of known.notes) if (!chosen || chosen.has(service)) notes.push(note)
      // Images that were built are referenced by digest.
      compilation = compilation.withImages?.({ references: wanted.built, configs: known.configs }) ?? compilation
    }
  } catch (error) {
    const { NotBuilt } = await import('../../builds/builder/builder.ts')
    if (!(error instanceof NotBuilt)) throw error
    refused = error.diagnostics
  }
  const { loaded } = compilation
  const plan = compilation.plan && (startOrder === 'manifest' ? inNoOrder(compilation.plan) : compilation.plan)
  const found = compilation.diagnostics.filter(isBesidesBuild)
  // The builder reports the same error.
  const isSaid = ({ code, span }: Diagnostic) =>
    code === 'build/unknown-target' && refused.some(other => other.span?.start === span?.start)
  const all = [...found.filter(one => !isSaid(one)), ...refused]
  const ofServices = chosen ? withoutOthers(all, get(loaded?.tree, 'services'), chosen) : all
  const shown = withoutRemarks(ofServices, ABOUT_COPIES, options.developed ?? [], loaded?.tree)
  const tell = (seen?: ReadonlySet<Diagnostic>) => {
    on({ type: 'diagnostics', diagnostics: shown, ...(seen && seen.size > 0 && { seen }) })
    for (const text of notes) on({ type: 'note', text })
  }
  const deployed = plan && (await inCluster(compilation, plan))
  if (!plan || !deployed || count(shown).error > 0) {
    tell()
    return { diagnostics: shown }
  }
  const { keepRoutes, synth } = deployed
  const lacking = domain === undefined ? routesOf(plan, part) : []
  if (keepRoutes.size > 0 && !options.developed) {
    notes.push(
      `${plural(keepRoutes.size, 'route')} not created or changed: no domain is set (\`--domain\`, or permanently with \`devctl context use ${target.context} --domain DOMAIN\`), so ${portsOf(lacking)} no public address`,
    )
  }
  const common = { ...deployed, domain, registry, built, warnings: shown, tell }
  if (!options.registryCredentials) return { plan, ...common }
  const pulling = await addRegistryCredentials(plan, synth, workspace, signal)
  notes.push(...pulling.notes)
  return { ...common, plan: pulling.plan }
}

/** Properties of a compiled project that do not depend on its images. */
type InCluster = Omit<CompiledForCluster, 'plan' | 'domain' | 'registry' | 'built'>

/**
 * Returns true for diagnostics other than a missing domain and a missing registry. The builder reports the missing
 * registry.
 */
const isBesidesBuild = ({ code }: Diagnostic): boolean => code !== 'routes/no-domain' && code !== 'image/no-registry'

const errorsBesidesBuild = ({ diagnostics }: CompiledProject): number => count(diagnostics.filter(isBesidesBuild)).error

/**
 * Returns the function that creates the manifests of a plan. Without a domain, only hosts of the user's own have
 * routes.
 */
async function withRoutes(
  plan: Plan,
  domain: string | undefined,
  part: Part | undefined,
): Promise<Pick<CompiledForCluster, 'synth' | 'keepRoutes'>> {
  const { toManifests } = await import('../../constructs/index.ts')
  const ownRoutes = new Set(plan.routes.filter(({ isOwnHost }) => isOwnHost).map(({ name }) => name))
  const lacking = domain === undefined ? routesOf(plan, part) : []
  return {
    keepRoutes: new Set(lacking.map(({ name }) => name)),
    synth: one =>
      wantedIn(part, toManifests(one)).filter(
        ({ object }) => domain !== undefined || !isRoute(object) || ownRoutes.has(object.metadata.name),
      ),
  }
}

/**
 * Removes the dependencies: all objects are applied at once, and the Pods themselves wait for the services that they
 * depend on.
 */
const inNoOrder = (plan: Plan): Plan => ({
  ...plan,
  workloads: plan.workloads.map(({ dependencies: _, ...workload }) => workload),
})

/** Returns the builds of the services, or only of those in `chosen`, and those of the manifest. */
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
 * Returns the images whose configurations refine the plan: built images, including those that services without `build`
 * share, and plain images that are available.
 */
async function wantedImages(
  { plan, project }: CompiledProject,
  built: ReadonlyMap<string, string>,
): Promise<WantedImages> {
  const hasBuilds = [...(project?.services.values() ?? [])].some(({ build }) => build)
  if (!plan || !project || !hasBuilds) return { built: new Map(), plain: new Map() }
  const [{ withSharers }, { plainImages }] = await Promise.all([
    import('../../builds/plan/shared-images.ts'),
    import('../../builds/image-configs.ts'),
  ])
  const ofServices = withSharers(plan.images, built)
  return { built: ofServices, plain: plainImages(project, plan.images, ofServices) }
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

/** Returns the services of a part, by their names in the files, and the services whose builds the part needs. */
async function chosenServices({ project, plan }: CompiledProject, part: Part): Promise<ReadonlySet<string>> {
  if (!project || !plan) return new Set(part.named)
  const [labels, { sharersOf }, { withNeeded }] = await Promise.all([
    labelsOf(project),
    import('../../builds/plan/shared-images.ts'),
    import('../../builds/plan/planned-build.ts'),
  ])
  const own = [...project.services.keys()].filter(service => part.services.has(labels.get(service) ?? ''))
  const builds = withNeeded(sharersOf(plan.images, own), plan.builds)
  return new Set([...own, ...builds.map(({ service }) => service)])
}

const wantedIn = (part: Part | undefined, manifests: readonly Manifest[]): readonly Manifest[] =>
  part ? manifestsOf(manifests, part.services) : manifests

const routesOf = ({ routes, openRoutes }: Plan, part: Part | undefined): readonly RoutePlan[] =>
  [...routes, ...openRoutes].filter(
    ({ service, isOwnHost }) => !isOwnHost && (!part || service === undefined || part.services.has(service)),
  )

/** Describes the ports behind routes, such as `port 80 of web, port 8080 of api have`. */
function portsOf(routes: readonly RoutePlan[]): string {
  const all = [
    ...new Set(routes.flatMap(({ rules }) => rules.map(({ service, port }) => `port ${port} of ${service}`))),
  ]
  const shown = all.length > MOST_PORTS ? [...all.slice(0, MOST_PORTS), `${all.length - MOST_PORTS} more`] : all
  return `${shown.join(', ')} ${all.length > 1 ? 'have' : 'has'}`
}

/** Maximum number of ports listed in a note. */
const MOST_PORTS = 3

/**
 * Returns the services of `--rerun`, by their names in Kubernetes. Throws a UserError if a service is not deployed
 * here.
 */
async function toRerun(
  names: readonly string[],
  { project }: CompiledProject,
  part: Part | undefined,
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const labels = project ? await labelsOf(project) : new Map<string, string>()
  const known = [...labels].filter(([, label]) => !part || part.services.has(label))
  return new Set(
    names.map(name => {
      const found = known.find(one => one.includes(name))
      if (!found)
        throw noSuchService(
          name,
          known.map(([one]) => one),
          ' to run again',
        )
      return found[1]
    }),
  )
}

async function addRegistryCredentials(
  plan: Plan,
  synth: (plan: Plan) => readonly Manifest[],
  { env }: Pick<OperationContext['workspace'], 'env'>,
  signal: AbortSignal,
) {
  const [{ addCredentials, registriesIn }, { readRegistryCredentials }] = await Promise.all([
    import('./registry-credentials.ts'),
    import('../../adapters/registry/docker-config.ts'),
  ])
  const registries = registriesIn(synth(plan))
  const hosts = new Set([...registries.values()].flatMap(one => [...one]))
  return addCredentials(plan, registries, await readRegistryCredentials([...hosts], { env, signal }))
}

/** Returns the user's choices about actions that a deploy takes only on request. */
export function choicesOf(
  options: ForCluster,
  { keepRoutes, part, rerun }: Pick<CompiledForCluster, 'keepRoutes' | 'part' | 'rerun'>,
): Choices {
  const { adopt = false, forceConflicts = false, takeOver = false, pruneLimit } = options
  return { adopt, forceConflicts, takeOver, pruneLimit, keepRoutes, rerun, isPart: part !== undefined }
}
