import { createHash } from 'node:crypto'
import { sep } from 'node:path'
import { readFile } from '../../../adapters/files/read-file.ts'
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts'
import { count } from '../../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { ManifestEnvironment } from '../../../compiler/manifest/manifest.ts'
import { reportNotPublished } from '../../../compiler/manifest/not-published.ts'
import type { SecretRules } from '../../../compiler/options.ts'
import type { Plan } from '../../../compiler/plan/plan.ts'
import { get, type Tree } from '../../../compiler/text/tree.ts'
import { isPinned } from '../../../compiler/values/images/image-reference.ts'
import { needsValues } from '../../../compiler/values/secrets/secret-backends.ts'
import type { Manifest } from '../../../constructs/manifest.ts'
import { type CompiledProject, compileFiles } from '../../../project/compile-files.ts'
import type { LoadInput, PlanInput } from '../../../project/input.ts'
import { nothingToRender } from '../../../project/nothing-to-render.ts'
import { openProject } from '../../../project/open-project.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import { pathInside } from '../../../project/path-inside.ts'
import type { LocalContext } from '../../../project/session.ts'
import type { Workspace } from '../../../project/workspace.ts'
import type { PublishEvent } from '../events.ts'

/** An application that was compiled for a repository. */
export interface CompiledForRepository {
  readonly plan: Plan
  readonly manifests: readonly Manifest[]
  /** Absolute path of the project folder. */
  readonly directory: string
  /** Hashes of the YAML files that were read, by absolute path. */
  readonly inputs: ReadonlyMap<string, string>
  /** Absolute paths of all files that were read, and of those that would have been read if they existed. */
  readonly paths: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
  /** Model of the Compose files. */
  readonly tree: Tree
  /** The environment's rules for secrets. */
  readonly secretRules: SecretRules | undefined
}

interface Input extends LoadInput, PlanInput {
  readonly fallbackName?: string | undefined
  /** True to build images that their registries do not have. */
  readonly build?: boolean | undefined
}

/**
 * Codes of diagnostics that `render` allows, but that are errors when an application is published: nothing would solve
 * these problems later in the repository.
 */
const NEEDED: ReadonlySet<string> = new Set(['image/no-registry', 'routes/no-domain'])

/**
 * Compiles an application for a repository. References the images of services with `build` by their digests. After
 * errors, `compiled` is absent. Throws a UserError for a project without Compose files.
 */
export async function compileForRepository(
  { workspace, on, signal }: LocalContext<PublishEvent>,
  options: Input,
  project: OpenProject,
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly compiled?: CompiledForRepository }> {
  const { fallbackName, build = false } = options
  const extra = {
    project,
    forRepository: true,
    ...(build && { forBuild: 'build' as const }),
    ...(fallbackName !== undefined && { fallbackName }),
  }
  const inputs = new Map<string, string>()
  const paths = new Set<string>()
  const onRead = (path: string, bytes: Uint8Array) => {
    paths.add(path)
    if (/\.ya?ml$/.test(path)) inputs.set(path, hashOf(bytes))
  }
  const onMissing = (path: string) => paths.add(path)
  let compiled = await compileFiles(workspace, [], options, options, { ...extra, onRead, onMissing })
  let refused: readonly Diagnostic[] = []
  let ofImages: readonly Diagnostic[] = []
  try {
    const confirmed = build
      ? await buildMissing(compiled, { workspace, on, signal })
      : await confirmBuilt(compiled, workspace.env, signal)
    if (confirmed.size > 0) {
      const { plan, withImages } = compiled
      const references = new Map([...confirmed].filter(([service]) => plan!.images.has(service)))
      if (build) ofImages = await imageProblems({ workspace, signal }, compiled, references, confirmed)
      compiled = withImages?.({ references }) ?? compiled
    }
  } catch (error) {
    const { NotBuilt } = await import('../../../builds/builder/builder.ts')
    if (!(error instanceof NotBuilt)) throw error
    refused = error.diagnostics
  }
  const found = compiled.diagnostics.map(
    (one): Diagnostic => (NEEDED.has(one.code) ? { ...one, severity: 'error' } : one),
  )
  const besides = compiled.manifest && !project.namesCompose ? reportNotPublished(compiled.manifest) : []
  const diagnostics = [...found, ...ofImages, ...refused, ...besides]
  const { plan, loaded, manifest, hasNoCompose } = compiled
  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  const directory = manifest && !project.namesCompose ? manifest.folder : loaded?.directory
  if (!plan || directory === undefined || count(diagnostics).error > 0) return { diagnostics }
  if (plan.workloads.length === 0 && get(loaded?.tree, 'services'))
    throw new UserError('the files have no services to publish', {
      hint: 'check the profiles; to remove the application from the repository, delete its folder',
    })
  const own = manifest && readFile(manifest.path)
  if (own?.kind === 'file') onRead(manifest!.path, own.bytes)
  // Not even a hash of a secret may leave this machine, because a weak value could be guessed from it.
  const secrets = [...(compiled.project?.secrets.values() ?? [])].flatMap(({ content }) => content ?? [])
  const hidden = new Set(secrets.map(hashOf))
  for (const [path, hash] of inputs) if (hidden.has(hash)) inputs.delete(path)
  const { toManifests } = await import('../../../constructs/index.ts')
  const secretRules = project.environment?.secrets
  const manifests = toManifests(plan)
  return {
    diagnostics,
    compiled: { plan, manifests, directory, inputs, paths, diagnostics, tree: loaded!.tree, secretRules },
  }
}

/** Builds the images that no registry has. Returns the references with digests of all images that have a build. */
async function buildMissing(
  { project, plan, diagnostics }: CompiledProject,
  { workspace, on, signal }: LocalContext<PublishEvent>,
): Promise<ReadonlyMap<string, string>> {
  if (!plan || !project || diagnostics.some(({ severity }) => severity === 'error')) return new Map()
  const [{ plannedBuilds }, { missingImagesBuilder }, { currentBuilder }] = await Promise.all([
    import('../../../builds/plan/planned-builds.ts'),
    import('../../../builds/ensure-images.ts'),
    import('../../../builds/builder/choose-builder.ts'),
  ])
  const builder = missingImagesBuilder({ workspace, on }, await currentBuilder(workspace))
  const builds = plannedBuilds(project, plan, true, 'publish')
  const images = await builder.ensure(builds, { build: 'changed', given: plan.images, signal })
  return images
}

/** Codes of diagnostics that depend on the configuration of an image. */
const OF_IMAGES: ReadonlySet<string> = new Set(['volumes/of-image', 'security/image-user'])

/**
 * Returns the problems that the configurations of images reveal. The manifests do not use these configurations, because
 * they would then depend on the user who publishes, and on the registries that answer.
 */
async function imageProblems(
  { workspace, signal }: Pick<LocalContext, 'workspace' | 'signal'>,
  { withImages }: CompiledProject,
  references: ReadonlyMap<string, string>,
  images: ReadonlyMap<string, string>,
): Promise<readonly Diagnostic[]> {
  const { knownImages } = await import('../../../builds/image-configs.ts')
  const wanted = { built: images, plain: new Map(), programs: new Map() }
  const { configs } = await knownImages(wanted, { env: workspace.env, signal })
  if (configs.size === 0) return []
  const { diagnostics = [] } = withImages?.({ references, configs }) ?? {}
  return diagnostics.filter(({ code }) => OF_IMAGES.has(code))
}

/**
 * Returns the image references of the services with `build`, with digests from the registries, by service. Throws
 * `NotBuilt` if a registry does not confirm an image.
 */
async function confirmBuilt(
  { project, plan, diagnostics }: CompiledProject,
  env: Workspace['env'],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (!plan || !project || diagnostics.some(({ code }) => NEEDED.has(code))) return new Map()
  const claimed = [...project.services.values()].flatMap(({ name, build }) => {
    const reference = build && plan.images.get(name)
    return reference && !isPinned(reference) ? [{ service: name, reference, span: build.span }] : []
  })
  if (claimed.length === 0) return new Map()
  const { confirmImages } = await import('../../../builds/confirm-images.ts')
  return confirmImages(claimed, { env, signal })
}

/**
 * Compiles the application without an environment, as the base from which an overlay is computed. Returns undefined if
 * the files alone do not compile (for example because only environments set a variable); the errors are not reported
 * here.
 */
export async function compileBase(
  workspace: Workspace,
  { environment: _, ...options }: LoadInput,
  name: string,
  environment: ManifestEnvironment | undefined,
): Promise<readonly Manifest[] | undefined> {
  const loading = { ...options, environment: undefined }
  const project = await openProject(workspace, loading)
  // A base is also in the repository, so the values that come from Secrets in the environment come from Secrets here
  // too.
  const secret = environment && { secretRules: environment.secrets, manifestEnvironment: environment.key }
  const { plan } = await compileFiles(workspace, [], loading, { name }, { project, forRepository: true, ...secret })
  if (!plan) return undefined
  const { toManifests } = await import('../../../constructs/index.ts')
  // Encrypted values belong to one environment, so a base has none.
  return toManifests(needsValues(environment?.secrets.backend) ? { ...plan, secrets: [] } : plan)
}

const hashOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/**
 * Returns the hashes by path relative to the source folder, sorted. Omits files outside the folder, because their paths
 * are specific to this machine.
 */
export function inputsFrom(folder: string, inputs: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const inside = [...inputs].flatMap(([path, hash]) => {
    const inside = pathInside(folder, path)
    return inside === undefined ? [] : [[inside.split(sep).join('/'), hash] as const]
  })
  return Object.fromEntries(inside.sort(([a], [b]) => (a < b ? -1 : 1)))
}
