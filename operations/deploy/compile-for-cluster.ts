import type { ImageBuilder } from '../../builds/builder/builder.ts'
import { withoutOthers } from '../../builds/failures/remarks.ts'
import { untaggedNote } from '../../builds/plan/untagged.ts'
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
import type { Workspace } from '../../project/workspace.ts'
import { addImages } from './add-images.ts'
import type { ForCluster } from './input.ts'
import { withReplicas } from './with-replicas.ts'

/** Codes of warnings about copies of host volumes. A development container does not use these copies. */
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
  /** Domain for the hosts of routes. If undefined, only routes whose hosts the user has set are created. */
  readonly domain: string | undefined
  readonly registry: string | undefined
  /** Images of services with `build`, by service, as references with digests. */
  readonly built: ReadonlyMap<string, string>
  /**
   * Names of the routes that are not created because there is no domain. Routes of these names that already exist in
   * the cluster are kept.
   */
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
 * created. Builds or finds the images, and plans again with them. Reports the errors but holds the warnings back,
 * because variables that commands pass on later may resolve them.
 */
export async function prepareForCluster(
  context: CompileContext,
  options: ForCluster,
  project: OpenProject,
  images: ImageBuilder,
): Promise<PreparedForCluster | RefusedForCluster> {
  const { workspace, session, on, beforeBuild } = context
  const { namespace, signal, target } = session
  const { startOrder = 'client', services: names = [] } = options
  const lasting = chooseTargetDefaults(workspace, options, project, target)
  const { domain, registry } = lasting
  const planning = { ...options, domain, registry, namespace, startOrder, includeSecrets: true } as const
  const extra = { project, forBuild: 'deploy' as const, leavesFoldersToUp: true, ...including(names, project) }
  const first = await compileFiles(workspace, [], options, planning, extra)
  const part = first.plan && (await partOf(names, first.plan, first, options.deps === false))
  const text = registryText(lasting)
  if (text !== undefined && first.plan?.builds.length) on({ type: 'choice', text })
  const chosen = part && (await chosenServices(first, part))
  const input: PlanInCluster = { workspace, options, project, domain, part }
  if (beforeBuild && first.plan && errorsBesidesBuild(first) === 0) {
    const { plan } = first
    const found = await inCluster(first, plan, input)
    const hasBuilds = plan.builds.length > 0 || (!part && (manifestOf(project)?.build.size ?? 0) > 0)
    if (found) await beforeBuild({ ...found, plan, hasBuilds })
  }
  const available = await addImages(first, { ...input, chosen, registry, images, signal })
  const { compilation, built, refused } = available
  const untagged = first.project && untaggedNote(first.project, options.tag, chosen)
  const notes = [...(untagged === undefined ? [] : [untagged]), ...available.notes]
  const shown = shownDiagnostics(compilation, refused, chosen, options)
  const tell = (seen?: ReadonlySet<Diagnostic>) => {
    on({ type: 'diagnostics', diagnostics: shown, ...(seen && seen.size > 0 && { seen }) })
    for (const text of notes) on({ type: 'note', text })
  }
  const ordered = compilation.plan && (startOrder === 'manifest' ? inNoOrder(compilation.plan) : compilation.plan)
  const plan = ordered && (await withReplicas(ordered, options.replicas ?? {}, compilation, part))
  const deployed = plan && (await inCluster(compilation, plan, input))
  if (!plan || !deployed || count(shown).error > 0) {
    tell()
    return { diagnostics: shown }
  }
  if (deployed.keepRoutes.size > 0 && !options.developed) {
    const lacking = routesOf(plan, part)
    notes.push(
      `${plural(deployed.keepRoutes.size, 'route')} not created or changed: no domain is set (\`--domain\`, or permanently with \`devctl context use ${target.context} --domain DOMAIN\`), so ${portsOf(lacking)} no public address`,
    )
  }
  const common = { ...deployed, domain, registry, built, warnings: shown, tell }
  if (!options.registryCredentials) return { plan, ...common }
  const pulling = await addRegistryCredentials(plan, deployed.synth, workspace, signal)
  notes.push(...pulling.notes)
  return { ...common, plan: pulling.plan }
}

/** Input of `inCluster`, besides the plan. */
interface PlanInCluster {
  readonly workspace: Workspace
  readonly options: ForCluster
  readonly project: OpenProject
  readonly domain: string | undefined
  readonly part: Part | undefined
}

/**
 * Returns the properties that depend on the plan but not on its images, such as the routes and the Jobs to run again.
 * Undefined for a project without a folder.
 */
async function inCluster(
  compiled: CompiledProject,
  plan: Plan,
  { workspace, options, project, domain, part }: PlanInCluster,
): Promise<InCluster | undefined> {
  const { loaded } = compiled
  const manifest = manifestOf(project)
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

/**
 * Returns the diagnostics of the files and of the builder that have to be reported: only those about the services that
 * are deployed.
 */
function shownDiagnostics(
  { diagnostics, loaded }: CompiledProject,
  refused: readonly Diagnostic[],
  chosen: ReadonlySet<string> | undefined,
  { developed = [] }: ForCluster,
): readonly Diagnostic[] {
  // The builder reports the same error.
  const isSaid = ({ code, span }: Diagnostic) =>
    code === 'build/unknown-target' && refused.some(other => other.span?.start === span?.start)
  const all = [...diagnostics.filter(one => isBesidesBuild(one) && !isSaid(one)), ...refused]
  const ofServices = chosen ? withoutOthers(all, get(loaded?.tree, 'services'), chosen) : all
  return withoutRemarks(ofServices, ABOUT_COPIES, developed, loaded?.tree)
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
 * Returns the function that creates the manifests of a plan. Without a domain, it creates only routes whose hosts the
 * user has set; `keepRoutes` contains the names of the others.
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

/** Returns the services of a part, and the services whose builds the part needs, by their names in the files. */
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
 * Returns the services of `--rerun`, by their names in Kubernetes. Throws a UserError for a service that is not
 * deployed here.
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

/**
 * Adds the credentials for the images of all services, also if only a part is deployed, because the services share one
 * Secret. The notes are about the images that are deployed.
 */
async function addRegistryCredentials(
  plan: Plan,
  synth: (plan: Plan) => readonly Manifest[],
  { env }: Pick<OperationContext['workspace'], 'env'>,
  signal: AbortSignal,
) {
  const [{ addCredentials, registriesIn }, { readRegistryCredentials }, { toManifests }] = await Promise.all([
    import('./registry-credentials.ts'),
    import('../../adapters/registry/docker-config.ts'),
    import('../../constructs/index.ts'),
  ])
  const registries = registriesIn(toManifests(plan))
  const credentials = await readRegistryCredentials([...allOf(registries)], { env, signal })
  return addCredentials(plan, registries, credentials, allOf(registriesIn(synth(plan))))
}

const allOf = (registries: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> =>
  new Set([...registries.values()].flatMap(one => [...one]))

/** Returns the user's choices about actions that a deploy takes only on request. */
export function choicesOf(
  options: ForCluster,
  { keepRoutes, part, rerun }: Pick<CompiledForCluster, 'keepRoutes' | 'part' | 'rerun'>,
): Choices {
  const { adopt = false, forceConflicts = false, takeOver = false, pruneLimit } = options
  return { adopt, forceConflicts, takeOver, pruneLimit, keepRoutes, rerun, isPart: part !== undefined }
}
