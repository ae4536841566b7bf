import { reportUnsupportedKeys } from './compose/load/checks/unsupported-keys.ts'
import { untilLimit, withinLimits } from './compose/load/limits.ts'
import { loadProject } from './compose/load/load.ts'
import type { Loaded } from './compose/load/loaded.ts'
import { emptyProject, withManifestEndpoints } from './compose/load/manifest-inputs.ts'
import type { Project } from './compose/project.ts'
import { readProject } from './compose/read-project.ts'
import type { Diagnostic } from './diagnostics/diagnostic.ts'
import { Reporter } from './diagnostics/reporter.ts'
import type { CompilerHost } from './host.ts'
import type { LoadOptions, PlanOptions } from './options.ts'
import { planProject } from './plan/index.ts'
import { planEnvironment } from './plan/names.ts'
import type { Plan } from './plan/plan.ts'
import { rememberingHost } from './remembering-host.ts'
import { SecretPlaces } from './text/secret-places.ts'
import type { MapTree } from './text/tree.ts'
import type { ImageConfig, ImageProgram } from './values/images/image-config.ts'
import { isVariableWithSecret } from './values/secrets/secret-names.ts'

export { modelNames } from './compose/model-names.ts'
export type { Diagnostic } from './diagnostics/diagnostic.ts'
export type { CompilerHost } from './host.ts'
export type { LoadOptions, PlanOptions } from './options.ts'
export type { Plan } from './plan/plan.ts'

/** Images that were built, or found in a registry, after a compilation. */
export interface AvailableImages {
  /** References with digests, by service. They take precedence over `images` in the options. */
  readonly references?: ReadonlyMap<string, string>
  /** Configurations of the images, by service. */
  readonly configs?: ReadonlyMap<string, ImageConfig>
  /** Programs of images that are not in `configs`, by service. */
  readonly programs?: ReadonlyMap<string, ImageProgram>
}

/** The result of planning a changed model. */
export interface ChangedPlan {
  readonly plan: Plan
  readonly diagnostics: readonly Diagnostic[]
}

/** The results of a compilation. The result of a stage is absent if an error prevented it. */
export interface Compilation {
  /** The model that `devctl config` prints, without the values in error. Absent if a file could not be read. */
  readonly loaded?: Loaded
  /**
   * The name that `devctl config` prints instead of `loaded.name`, which is the environment's name. Set only with
   * `until: 'loaded'`, and only if the printed file would otherwise produce an environment with a different name.
   */
  readonly environmentName?: string
  readonly project?: Project
  /**
   * The plan. Absent if any diagnostic is an error, unless `plansErrors` is set. Always absent if a file could not be
   * read.
   */
  readonly plan?: Plan
  /**
   * Plans the same project again, with images that have become available: ports, healthchecks, users, volumes and
   * warnings depend on them. Does not read the Compose files again. Absent if there is no project to plan.
   */
  readonly withImages?: (images: AvailableImages) => Compilation
  /**
   * Plans a changed model, or the same model with other options, even if there are errors. Does not read the Compose
   * files again, and reads every other file at most once. Absent if there is no project to plan.
   */
  readonly withModel?: (tree: MapTree, options?: PlanOptions) => ChangedPlan
  readonly diagnostics: readonly Diagnostic[]
  /** The values known to be secret. Also set after errors, because diagnostics may contain secret values. */
  readonly secrets: SecretPlaces
}

/**
 * Compiles Compose files to a plan for Kubernetes. Reports all errors as diagnostics; throws only if devctl has a bug.
 * This is the only entry point.
 */
export function compile(options: LoadOptions & PlanOptions, host: CompilerHost): Compilation {
  const secrets = new SecretPlaces()
  return withinLimits(
    options,
    host,
    reporter => compileWith(options, host, reporter, secrets),
    diagnostics => ({ diagnostics, secrets }),
  )
}

function compileWith(
  options: LoadOptions & PlanOptions,
  host: CompilerHost,
  reporter: Reporter,
  secrets: SecretPlaces,
): Compilation {
  const files = loadProject(options, host, reporter, secrets)
  const loaded = files && withManifestEndpoints(files, options.manifest?.endpoints, reporter)
  if (!loaded) return { diagnostics: reporter.diagnostics(), secrets }
  if (options.until === 'loaded')
    return { loaded, ...nameToPrint(loaded, options), diagnostics: reporter.diagnostics(), secrets }
  reportUnsupportedKeys(loaded.tree, reporter)
  const project = readProject(loaded, host, reporter, options.secretRules)
  for (const value of secretContents(project)) secrets.addValue(value)
  // A plan depends on all services and all of their keys, so an incomplete model cannot be planned.
  if (loaded.isIncomplete) return { loaded, project, diagnostics: reporter.diagnostics(), secrets }
  const read = reporter.copy()
  const remembering = rememberingHost(host)
  const withModel = (tree: MapTree, changes: PlanOptions = {}): ChangedPlan => {
    const own = new Reporter()
    reportUnsupportedKeys(tree, own)
    const changed = readProject({ ...loaded, tree }, remembering, own, options.secretRules)
    const plan = planProject(changed, { ...options, ...changes }, remembering, own)
    return { plan, diagnostics: own.diagnostics() }
  }
  const planned = (own: PlanOptions, reporter: Reporter): Compilation => {
    const plan = planProject(project, own, host, reporter)
    return {
      loaded,
      project,
      withModel,
      ...((options.plansErrors || !reporter.hasErrors) && { plan }),
      withImages: ({ references = new Map(), configs, programs }) => {
        const images = new Map([...(options.images ?? []), ...references])
        const withImages = {
          ...options,
          images,
          ...(configs && { imageConfigs: configs }),
          ...(programs && { imagePrograms: programs }),
        }
        return untilLimit(
          read.copy(),
          reporter => planned(withImages, reporter),
          diagnostics => ({ loaded, project, diagnostics, secrets }),
        )
      },
      diagnostics: reporter.diagnostics(),
      secrets,
    }
  }
  return planned(options, reporter)
}

/**
 * Returns the values that go into Secrets: the contents of the top-level `secrets`, the values of variables that the
 * environment takes from Secrets, and the values of variables whose name or value looks secret.
 */
function secretContents({ secrets, services }: Project): readonly string[] {
  const contents = [...secrets.values()].map(({ content }) => new TextDecoder().decode(content).trim())
  const variables = [...services.values()].flatMap(({ environment, secretEnvironment }) => [
    ...environment.flatMap(({ name, value }) => (isVariableWithSecret(name, value) ? [value] : [])),
    ...secretEnvironment.flatMap(({ value }) => value ?? []),
  ])
  return [...contents, ...variables]
}

function nameToPrint(loaded: Loaded, options: PlanOptions): Pick<Compilation, 'environmentName'> {
  const { name } = planEnvironment(loaded, options)
  return planEnvironment({ name: loaded.name, isNamed: true }, {}).name === name ? {} : { environmentName: name }
}

/** Creates an empty plan for an application without Compose files, whose manifest deploys it with commands. */
export function compileNothing(options: PlanOptions & { readonly directory: string }, host: CompilerHost): Compilation {
  const reporter = new Reporter()
  const project = emptyProject(options.directory)
  const plan = planProject(project, options, host, reporter)
  const secrets = project.secretPlaces
  return { project, ...(!reporter.hasErrors && { plan }), diagnostics: reporter.diagnostics(), secrets }
}
