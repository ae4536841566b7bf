import { resolve } from 'node:path'
import { UsageError } from '../compiler/diagnostics/user-error.ts'
import type { AvailableImages, Compilation } from '../compiler/index.ts'
import type { DevctlManifest, ManifestEnvironment } from '../compiler/manifest/manifest.ts'
import { reportOktetoBuilds } from '../compiler/manifest/okteto-builds.ts'
import type { LoadOptions, PlanOptions } from '../compiler/options.ts'
import { SecretPlaces } from '../compiler/text/secret-places.ts'
import { KUBECTL_IMAGE, SHELL_IMAGE } from '../compiler/values/images/helper-images.ts'
import { helperImage } from './base-registry.ts'
import { boundaryOf } from './boundary.ts'
import { dnsLabel, registryPath } from './checks.ts'
import type { LoadInput, PlanInput } from './input.ts'
import { fallbackName } from './names/environment-name.ts'
import { combinedNames, optionNames, workspaceNames } from './names/project-names.ts'
import { createHost, variablesFor } from './node-host.ts'
import { openProject } from './open-project.ts'
import type { OpenProject } from './opened-project.ts'
import { namedEnvFiles, namedFiles, projectFolder } from './project-folder.ts'
import type { Workspace } from './workspace.ts'

/** Compilation, with the manifest that was used. */
export interface CompiledProject extends Compilation {
  readonly withImages?: (images: AvailableImages) => CompiledProject
  readonly manifest?: DevctlManifest
  readonly environment?: ManifestEnvironment
  /** Set if there is no Compose file: the manifest deploys with commands, and the plan is empty. */
  readonly hasNoCompose?: true
}

/** Codes of warnings about a missing option of `render`, or a missing setting of an environment. */
export const ABOUT_OPTIONS: ReadonlySet<string> = new Set([
  'image/no-registry',
  'routes/no-domain',
  'routes/no-namespace',
  'secrets/left-out',
  'secrets/plain-text',
])

/**
 * Name of the variable that is `false` if services that share a volume may run on different nodes. The variable is set
 * in the shell, or for a namespace of a platform.
 */
const VOLUME_AFFINITY = 'DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED'

interface Extra
  extends Partial<LoadOptions>,
    Pick<PlanOptions, 'fallbackName' | 'secretRules' | 'manifestEnvironment' | 'forBuild' | 'leavesFoldersToUp'> {
  /** Project, if it has already been opened. */
  readonly project?: OpenProject
  /** Called with the absolute path and the bytes of each file that is read. */
  readonly onRead?: (path: string, bytes: Uint8Array) => void
  /** Called with the absolute path of each file or folder that does not exist, but would be used if it did. */
  readonly onMissing?: (path: string) => void
  /** True to return the plan even if there are errors, which may be about services that are not needed. */
  readonly plansErrors?: boolean
  /** True if the manifests are committed to a repository, which must not contain readable secrets. */
  readonly forRepository?: boolean
}

/**
 * Compiles the files selected by the options of a command, or by the manifest, for the services that the command's
 * arguments name. All commands compile through this function.
 */
export async function compileFiles(
  workspace: Workspace,
  services: readonly string[],
  loading: LoadInput,
  planning: PlanInput = {},
  { project: opened, onRead, onMissing, plansErrors, ...extra }: Extra = {},
): Promise<CompiledProject> {
  const project = opened ?? (await openProject(workspace, loading))
  const compiler = import('../compiler/index.ts')
  const [{ compile, compileNothing, modelNames }, plan] = await Promise.all([
    compiler,
    // Rejected options wait for the import, so that no work continues after the rejection.
    planOptions(workspace, loading, planning, project).finally(() => compiler),
  ])
  workspace.secrets?.addNames([...workspaceNames(workspace, loading), ...optionNames(plan)])
  const { manifest, environment, diagnostics } = project
  const found = { ...(manifest && { manifest }), ...(environment && { environment }) }
  const failed = diagnostics.some(({ severity }) => severity === 'error')
  const commands = manifest && !project.namesCompose && !manifest.deploy?.compose && manifest.deploy
  // The manifest, or its part about Compose files, has an error, so there is nothing to compile.
  if (failed && (!manifest || commands)) return { ...found, diagnostics, secrets: new SecretPlaces() }

  const boundary = boundaryOf(workspace, loading, project)
  const host = createHost({
    boundary,
    ...variablesFor(workspace),
    ...(onRead && { onRead }),
    ...(onMissing && { onMissing }),
    ...(workspace.unsaved && { unsaved: workspace.unsaved }),
  })
  const nothing = (): CompiledProject => {
    const empty = compileNothing({ ...plan, directory: manifest!.folder }, host)
    return { ...empty, ...found, hasNoCompose: true, diagnostics: [...diagnostics, ...empty.diagnostics] }
  }
  if (commands && commands.commands.length > 0 && !commands.endpoints) return nothing()

  const options = loadOptions(workspace, services, loading, planning, await withStdin(workspace, loading, project))
  const compilation = compile({ ...options, ...plan, ...extra, ...(plansErrors && { plansErrors }) }, host)
  if (compilation.loaded) workspace.secrets?.addNames(modelNames(compilation.loaded, givenNames(workspace)))
  const toProject = (compilation: Compilation): CompiledProject => {
    workspace.secrets?.addNames(combinedNames(compilation, plan))
    tellSecrets(workspace, compilation)
    // An option may only be missing because its line in the manifest has an error.
    const own = compilation.diagnostics.filter(({ code }) => !failed || !ABOUT_OPTIONS.has(code))
    const services = [...(compilation.project?.services.values() ?? [])]
    const ofServices = new Set(services.flatMap(({ name, build }) => (build ? [name] : [])))
    const ofManifest = manifest && !project.namesCompose ? reportOktetoBuilds(manifest, ofServices) : []
    const all = [...diagnostics, ...ofManifest, ...own]
    const { plan: made, withImages, ...rest } = compilation
    const isSound = !all.some(({ severity }) => severity === 'error')
    return {
      ...rest,
      ...found,
      ...(made && (isSound || plansErrors) && { plan: made }),
      ...(withImages && { withImages: images => toProject(withImages(images)) }),
      diagnostics: all,
    }
  }
  const compiled = toProject(compilation)
  const isMissing = compilation.diagnostics.some(({ code }) => code === 'files/no-compose-file')
  if (isMissing && manifest && !failed && !manifest.deploy?.endpoints) return nothing()

  refuseUnknownImages(planning.image, compilation)
  return compiled
}

/**
 * Registers the secrets of a compilation for masking in all further output; names used in the project stay readable.
 */
function tellSecrets({ secrets: known }: Workspace, { secrets, project, plan }: Compilation): void {
  if (!known) return
  known.spare([
    ...(project
      ? [project.name, ...project.services.keys(), ...project.volumes.keys(), ...project.networks.keys()]
      : []),
    ...(project ? [...project.secrets.keys(), ...project.configs.keys()] : []),
    ...(plan ? [plan.environment.name, plan.environment.namespace ?? ''] : []),
  ])
  known.add(secrets.values)
  known.addPhrases(secrets.phrases)
}

/**
 * Returns the names of variables that are always secret, because they were passed with `--var` or come from the
 * platform.
 */
const givenNames = ({ givenVariables, platformVariables }: Workspace): ReadonlySet<string> =>
  new Set([...(givenVariables ?? []), ...(platformVariables?.keys() ?? [])])

/**
 * Reads standard input if a file is named `-`, with `-f` or in COMPOSE_FILE, and standard input has not been read yet.
 */
async function withStdin(workspace: Workspace, loading: LoadInput, project: OpenProject): Promise<OpenProject> {
  if (project.stdin || !namedFiles(workspace, loading).includes('-')) return project
  return { ...project, stdin: await workspace.readStdin() }
}

function loadOptions(
  workspace: Workspace,
  services: readonly string[],
  loading: LoadInput,
  { strict }: PlanInput,
  project: OpenProject,
): LoadOptions {
  const { file, projectDirectory, profile } = loading
  const { manifest, environment, namesCompose, stdin } = project
  const compose = namesCompose ? undefined : manifest?.deploy?.compose
  const inFolder = (path: { readonly value: string }) => resolve(manifest!.folder, path.value)
  const files = namesCompose ? file : compose?.files.map(inFolder)
  // The env files of an environment, like its profiles, take precedence over a variable of the shell.
  const ofEnvironment = loading.envFile ? [] : (environment?.envFiles ?? [])
  const ofShell = () => namedEnvFiles(workspace, loading)?.map(path => resolve(workspace.cwd, path))
  const envFiles = ofEnvironment.length > 0 ? ofEnvironment.map(inFolder) : ofShell()
  const profiles = profile ?? environment?.profiles?.map(({ value }) => value)
  const chosen = services.length > 0 ? services : (compose?.services.map(({ value }) => value) ?? [])
  return {
    workingDirectory: workspace.cwd,
    ...(files && { files }),
    ...(stdin && { stdin }),
    ...(projectDirectory !== undefined && { projectDirectory: resolve(workspace.cwd, projectDirectory) }),
    ...(envFiles?.length && { envFiles }),
    ...(profiles && { profiles }),
    ...(chosen.length > 0 && { services: chosen }),
    ...(strict && { strict }),
    ...(manifest && { manifest: manifestInputs(manifest, environment, namesCompose) }),
  }
}

function manifestInputs(
  { folder, deploy }: DevctlManifest,
  environment: ManifestEnvironment | undefined,
  namesCompose: boolean,
): NonNullable<LoadOptions['manifest']> {
  const compose = namesCompose ? undefined : deploy?.compose
  const overrides = environment?.compose ?? []
  const named = [...(compose?.files ?? []), ...overrides]
  return {
    files: overrides.map(({ value }) => resolve(folder, value)),
    ...(!namesCompose && { searchIn: folder }),
    ...(environment && { variables: environment.variables }),
    ...(deploy?.endpoints && !namesCompose && { endpoints: deploy.endpoints }),
    places: {
      files: new Map(named.map(({ value, span }) => [resolve(folder, value), span])),
      services: new Map(compose?.services.map(({ value, span }) => [value, span])),
    },
  }
}

/**
 * Returns the plan options. Order of precedence: options of the command line, the selected environment of the manifest,
 * the top level of the manifest. DEVCTL_NAMESPACE takes precedence over the top level, DEVCTL_REGISTRY does not.
 */
async function planOptions(
  workspace: Workspace,
  loading: LoadInput,
  values: PlanInput,
  project: OpenProject,
): Promise<PlanOptions> {
  const { tag, startOrder, includeSecrets } = values
  const volumeAffinity = workspace.env[VOLUME_AFFINITY] ?? workspace.platformVariables?.get(VOLUME_AFFINITY)
  const { manifest, environment, namesCompose } = project
  const name = values.name ?? environment?.name?.value ?? (namesCompose ? undefined : manifest?.name?.value)
  const namespace =
    values.namespace ?? environment?.namespace?.value ?? namespaceOf(workspace) ?? manifest?.namespace?.value
  const domain = values.domain ?? environment?.domain?.value ?? manifest?.domain?.value
  const policy = values.policy ?? environment?.policy
  const registry = values.registry ?? environment?.registry?.value ?? manifest?.registry?.value ?? registryOf(workspace)
  const images = await imagesOf(workspace, values, environment)
  return {
    fallbackName: fallbackName(projectFolder(workspace, loading, project)),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(domain !== undefined && { domain }),
    ...routeOptions(values, environment),
    ...(policy !== undefined && { policy }),
    ...(images && { images }),
    ...(environment && { imagePlaces: new Map(environment.images.map(({ name, key, span }) => [name, key ?? span])) }),
    ...(registry !== undefined && { registry }),
    ...(tag !== undefined && { tag }),
    ...(startOrder !== undefined && { startOrder }),
    ...(includeSecrets && { includeSecrets }),
    ...(workspace.hasViewers && { valuesApart: true }),
    ...(environment && { secretRules: environment.secrets, manifestEnvironment: environment.key }),
    shellImage: environment?.shellImage?.value ?? helperImage(workspace, SHELL_IMAGE),
    kubectlImage: environment?.kubectlImage?.value ?? helperImage(workspace, KUBECTL_IMAGE),
    ...(volumeAffinity && { volumeAffinity }),
  }
}

/**
 * Returns the options about routes. Ignores the environment's settings for Ingresses if the routes use a Gateway, and
 * its Gateway if they use Ingresses. Throws a UsageError for options that do not fit together.
 */
function routeOptions(values: PlanInput, environment: ManifestEnvironment | undefined): Partial<PlanOptions> {
  const routes = values.routes ?? (values.gateway === undefined ? environment?.routes : 'gateway')
  const gateway = values.gateway ?? (routes === 'gateway' ? environment?.gateway?.value : undefined)
  const ofIngress = routes === 'gateway' ? undefined : environment
  const ingressClass = values.ingressClass ?? ofIngress?.ingressClass?.value
  const tlsSecret = values.tlsSecret ?? ofIngress?.tls?.secret ?? ofIngress?.tlsSecret?.value
  const tlsIssuer = values.tlsSecret === undefined ? ofIngress?.tls?.issuer : undefined
  if (routes === 'gateway' && gateway === undefined) {
    throw new UsageError('`--routes gateway` needs a Gateway', { hint: 'add `--gateway NAMESPACE/NAME`' })
  }
  if (routes !== 'gateway' && gateway !== undefined) {
    throw new UsageError('`--gateway` has no effect on Ingresses', {
      hint: 'leave it out, or use `--routes gateway`',
    })
  }
  if (routes === 'gateway' && ingressClass !== undefined) {
    throw new UsageError('`--ingress-class` has no effect on HTTPRoutes', {
      hint: 'leave it out: the Gateway has its own class',
    })
  }
  return {
    ...(routes !== undefined && { routes }),
    ...(gateway !== undefined && { gateway }),
    ...(ingressClass !== undefined && { ingressClass }),
    ...(tlsSecret !== undefined && { tlsSecret }),
    ...(tlsIssuer && { tlsIssuer }),
    ...(environment && { routeAnnotations: environment.routeAnnotations }),
  }
}

function namespaceOf({ env }: Workspace): string | undefined {
  const namespace = env.DEVCTL_NAMESPACE || undefined
  if (namespace !== undefined) dnsLabel(namespace, 'DEVCTL_NAMESPACE')
  return namespace
}

function registryOf({ env }: Workspace): string | undefined {
  const registry = env.DEVCTL_REGISTRY || undefined
  if (registry !== undefined) registryPath(registry, 'DEVCTL_REGISTRY')
  return registry
}

/**
 * Returns the images by service; undefined if none are given. Options take precedence over the file of images, and the
 * file takes precedence over the environment of the manifest.
 */
async function imagesOf(
  workspace: Workspace,
  { image, imagesFile }: PlanInput,
  environment: ManifestEnvironment | undefined,
): Promise<ReadonlyMap<string, string> | undefined> {
  if (imagesFile === undefined && !image && !environment?.images.length) return undefined
  const ofFile = imagesFile === undefined ? [] : await imagesFrom(workspace, imagesFile)
  const ofEnvironment = environment?.images.map(({ name, value }) => [name, value] as const) ?? []
  return new Map([...ofEnvironment, ...ofFile, ...(image ?? [])])
}

async function imagesFrom(workspace: Workspace, path: string): Promise<ReadonlyMap<string, string>> {
  const { readImagesFile } = await import('./images-file.ts')
  return readImagesFile(resolve(workspace.cwd, path), path)
}

/**
 * Throws a UsageError if `--image` names a service that the files do not have, because the name is a typo. Not used for
 * a file of images, which may contain images of other applications.
 */
function refuseUnknownImages(images: ReadonlyMap<string, string> | undefined, { project }: Compilation): void {
  if (!project) return
  for (const service of images?.keys() ?? []) {
    if (project.services.has(service) || project.absentServices.has(service)) continue
    const names = [...project.services.keys()].map(name => `\`${name}\``).join(', ')
    throw new UsageError(`\`--image\` names a service \`${service}\`, which the files do not have`, {
      hint: `the services are ${names || 'none'}`,
    })
  }
}
