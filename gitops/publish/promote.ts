import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { ManifestEnvironment } from '../../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../../compiler/plan/object-names.ts'
import { isPinned } from '../../compiler/values/images/image-reference.ts'
import { isStream } from '../../compiler/values/stream-path.ts'
import { type CompiledProject, compileFiles } from '../../project/compile-files.ts'
import type { Facts, Lock } from '../../project/lock.ts'
import { sourceRepository } from '../../project/names/environment-name.ts'
import { openProject } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import { pathInside } from '../../project/path-inside.ts'
import type { LocalContext } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { PushTarget } from '../repository/checkout.ts'
import { commandLine, imageOptions } from '../repository/layout/readme.ts'
import { type PushOptions, pushTo } from '../repository/push.ts'
import { ignoredFiles } from '../repository/source.ts'
import { withSourceAt } from '../repository/source-at.ts'
import { readLock } from '../repository/tree/change.ts'
import type { PublishEvent } from './events.ts'
import { fetchedEvents } from './fetched-events.ts'
import type { PublishInput } from './input.ts'
import type { PublishOutcome } from './outcome.ts'
import { refuseOtherFiles, uncommittedSecrets } from './promoted-files.ts'
import { publish } from './publish.ts'
import { destinationOf } from './target/destination.ts'

/** Environments of a promotion, and the options for publishing it. */
export interface PromoteInput
  extends Omit<
    PublishInput,
    'environment' | 'image' | 'imagesFile' | 'tag' | 'oci' | 'verify' | 'addressBase' | 'fallbackName'
  > {
  /** Key of the environment to promote from. */
  readonly from: string
  /** Key of the environment to promote to. */
  readonly to: string
}

/** Environments of a promotion, and the source commit that is promoted. */
interface Promotion {
  readonly from: string
  readonly to: string
  readonly commit: string
  /** Images of the source environment, by service. */
  readonly images: Facts['images']
}

/**
 * Publishes the state of one environment to another: compiles the same source commit for the target environment, with
 * the images that were tested in the source environment. Throws a UserError if the state cannot be reproduced.
 */
export async function promote(
  world: LocalContext<PublishEvent>,
  { from, to, ...input }: PromoteInput,
): Promise<PublishOutcome> {
  if (from === to) throw new UsageError(`\`${from}\` is promoted to itself`, { hint: 'name two environments' })
  const { workspace, signal, on } = world
  const wanted: PublishInput = { ...input, environment: to }
  const [source, target] = [
    await openProject(workspace, { ...wanted, environment: from }),
    await openProject(workspace, wanted),
  ]
  for (const { environment } of [source, target]) refuseArtifact(environment)
  const { application, facts, read } = await publishedAs(world, source, input)
  const commit = facts.source.commit!
  const promotion = { from, to, commit, images: facts.images }
  on({ type: 'promoting', environment: from, application, commit })
  const folder = target.manifest!.folder
  const top = sourceRepository(folder)?.top
  if (top === undefined)
    throw new UserError('the files are not in a git repository', {
      hint: `run it in a checkout of the source of ${from}`,
    })
  return withSourceAt(folder, commit, { env: workspace.env, signal }, async at => {
    const clone = at.top
    const moved = (path: string) => {
      if (isStream(path)) return path
      const here = resolve(workspace.cwd, path)
      const there = inClone(here, top, clone)
      if (existsSync(here) && !existsSync(there)) throw notInCommit(`\`${path}\``, promotion)
      return there
    }
    const own: PublishInput = {
      ...wanted,
      file: wanted.file?.map(moved),
      envFile: wanted.envFile?.map(moved),
      projectDirectory: wanted.projectDirectory === undefined ? undefined : moved(wanted.projectDirectory),
      // The temporary folder must not determine the name.
      fallbackName: application,
      addressBase: wanted.repository === undefined ? folder : workspace.cwd,
    }
    const env = envWith(workspace.env, moved, path => inClone(path, top, clone))
    const there = { ...workspace, env, cwd: inClone(workspace.cwd, top, clone) }
    // Without an environment, Compose files are read without the manifest.
    const named = target.namesCompose ? undefined : own.file
    const besideManifest = { ...there, cwd: inClone(folder, top, clone) }
    refuseMissing(
      await openProject(target.namesCompose ? besideManifest : there, { ...own, file: named, environment: undefined }),
      promotion,
    )
    const opened = await openProject(there, own)
    const used = new Set<string>()
    const compile = (world: Workspace) => compiledFrom(world, own, { opened, onUse: path => used.add(path) })
    const first = await compile(there)
    const options = { env: workspace.env, signal }
    const files = await uncommittedSecrets(first, { top, clone, ...options })
    for (const path of files.keys())
      on({ type: 'note', text: `\`${path}\` of this checkout is used: it is the file of a secret, and git ignores it` })
    const lacking = read.filter(path => !existsSync(inClone(path, top, clone)))
    for (const path of await ignoredFiles(top, lacking, options)) if (!files.has(path)) on(notUsed(path, commit))
    // The clone must not have them: no secret is written to a file.
    const unsaved = new Map([...files].map(([path, bytes]) => [join(clone, path), bytes]))
    const withSecrets = files.size > 0 ? { ...there, unsaved } : there
    const compiled = files.size > 0 ? await compile(withSecrets) : first
    refuseOtherFiles(used, { at, top, to, commit })
    const ofSource = (await compiledFrom(withSecrets, { ...own, environment: from }))?.plan?.images
    const unknown = ofSource ? [] : Object.entries(facts.images).filter(([, image]) => !isPinned(image))
    if (unknown.length > 0) on(notCompared(from, unknown))
    const ofTarget = compiled?.plan?.images
    const left = ofTarget ? Object.keys(facts.images).filter(service => !ofTarget.has(service)) : []
    if (left.length > 0) on(leftOut(left, { from, to, options: facts.options }))
    const image = testedImages(facts, ofSource, ofTarget)
    return publish({ ...world, workspace: withSecrets }, { ...own, image }, opened)
  })
}

/**
 * Throws a UserError if the target environment is missing in the manifest of the promoted commit, although the current
 * manifest has it.
 */
function refuseMissing({ manifest }: OpenProject, promotion: Promotion): void {
  const { to } = promotion
  if (manifest?.environments.has(to)) return
  throw notInCommit(`the environment \`${to}\``, promotion)
}

/**
 * Returns the error for something (`what`) that the current files have, but not the promoted commit. The hint is not to
 * publish to the source environment again: if that changes no file there, the lock keeps the commit.
 */
function notInCommit(what: string, { from, to, commit, images }: Promotion): UserError {
  const short = commit.slice(0, 7)
  const tested = Object.entries(images).filter(([, image]) => isPinned(image))
  const again = commandLine('devctl', 'publish', '--environment', to, ...imageOptions(tested))
  return new UserError(`the commit ${short}, which \`${from}\` has, does not have ${what}`, {
    hint: `\`promote\` uses the files of that commit: publish the present files to \`${to}\` once, with the images of \`${from}\`: \`${again}\``,
  })
}

/** Returns the warning about a file that was read in the working tree and that no commit has. */
const notUsed = (path: string, commit: string) => ({
  type: 'warning' as const,
  text: `\`${path}\` is not used: git ignores it, so the commit ${commit.slice(0, 7)} does not have it`,
  hint: 'set its variables in the shell, or commit a file and name it in `envFiles` of the environment',
})

/** Throws a UserError for an environment that is published to a registry. */
function refuseArtifact(environment: ManifestEnvironment | undefined): void {
  if (!environment?.publish.oci) return
  throw new UserError(`\`${environment.key}\` is published as an artifact, and \`promote\` is for repositories`, {
    hint: 'check the commit out, and publish it with the same images: `devctl publish --environment … --image …`',
  })
}

/**
 * Returns the name of the application and the facts about its source that an environment currently has, and the
 * absolute paths of the current files that were `read` to find the name. Throws a UserError if the published state
 * cannot be built again.
 */
async function publishedAs(
  { workspace, signal, on }: LocalContext<PublishEvent>,
  project: OpenProject,
  input: Omit<PublishInput, 'environment'>,
): Promise<{ readonly application: string; readonly facts: Facts; readonly read: readonly string[] }> {
  const environment: ManifestEnvironment = project.environment!
  const read = new Set<string>()
  const application = await applicationName(workspace, project, input, path => read.add(path))
  const { file, projectDirectory } = input
  const { target, path } = destinationOf(workspace, { file, projectDirectory, verify: true }, project, application)
  const lock = await readPublished(target, path, {
    env: workspace.env,
    signal,
    tell: fetchedEvents(on, target.address),
  })
  const name = `\`${environment.key}\``
  if (!lock?.facts)
    throw new UserError(`nothing is published for ${name} in \`${path}\``, {
      hint: `publish it first: \`devctl publish --environment ${environment.key}\``,
    })
  const { commit, isDirty } = lock.facts.source
  if (commit === undefined || isDirty)
    throw new UserError(`${name} was published from uncommitted files`, {
      hint: `commit them, and publish ${name} again`,
    })
  return { application: lock.application, facts: lock.facts, read: [...read] }
}

/**
 * Returns the name of the application in the form that its folder uses. Compiles the current files to find the name,
 * and ignores errors in them. Throws a UserError if neither the files nor the input contain a name.
 */
async function applicationName(
  workspace: Workspace,
  project: OpenProject,
  input: Omit<PublishInput, 'environment'>,
  onRead: (path: string) => void,
): Promise<string> {
  const compiled = await compileFiles(workspace, [], { ...input, environment: project.environment!.key }, input, {
    project,
    onRead,
  })
  const { environment, manifest } = project
  const written = input.name ?? environment?.name?.value ?? manifest?.name?.value
  const name = compiled.plan?.environment.name ?? written ?? compiled.project?.name
  if (name === undefined)
    throw new UserError('the name of the application cannot be determined from the files', {
      hint: 'set it with `--name`',
    })
  return toDnsLabel(name)
}

/**
 * Returns the lock of an application's folder in a repository; undefined if nothing was published to the folder. Throws
 * a UserError if the repository cannot be read.
 */
async function readPublished(target: PushTarget, path: string, options: PushOptions): Promise<Lock | undefined> {
  const result = await pushTo<Lock | undefined>(
    target,
    { write: async ({ folder }) => ({ done: readLock(join(folder, path), path) }) },
    options,
  )
  return 'done' in result ? result.done : undefined
}

/** Returns the warning about services that only the source environment has. */
function leftOut(
  services: readonly string[],
  { from, to, options }: { from: string; to: string; options: Facts['options'] },
) {
  const { profile } = options
  const hint =
    profile === undefined
      ? `if it should have them, name their files in \`compose\` of the environment, or with \`-f\` here`
      : `\`${from}\` was published with the profiles ${profile}: add \`--profile\` if it should have them`
  const names = services.map(service => `\`${service}\``).join(', ')
  return { type: 'warning' as const, text: `\`${to}\` does not have what \`${from}\` has: ${names}`, hint }
}

/** Returns the warning about images without a digest, if the files of the source environment do not compile here. */
const notCompared = (from: string, images: readonly (readonly [service: string, image: string])[]) => ({
  type: 'warning' as const,
  text: `the files have errors for \`${from}\` here, so images without a digest may be others than there: ${images.map(([service, image]) => `\`${service}\` has \`${image}\``).join(', ')}`,
  hint: `\`devctl validate --environment ${from}\` shows the errors, such as missing variables`,
})

/**
 * Compiles the files for an environment; undefined if they cannot be compiled, for example because they do not have the
 * environment. Opens the project unless it is given. `onUse` is called with the absolute path of each file that is
 * read, or would be if it existed.
 */
async function compiledFrom(
  workspace: Workspace,
  input: PublishInput,
  { opened, onUse }: { readonly opened?: OpenProject; readonly onUse?: (path: string) => void } = {},
): Promise<CompiledProject | undefined> {
  try {
    const project = opened ?? (await openProject(workspace, input))
    const uses = onUse && { onRead: onUse, onMissing: onUse }
    return await compileFiles(workspace, [], input, input, { project, forRepository: true, ...uses })
  } catch (error) {
    // Publishing reports the errors that prevent it.
    if (error instanceof UserError) return undefined
    throw error
  }
}

/**
 * Returns the published images that also have to run in the target environment, by service, because they were tested:
 * images with a digest, and images other than those of the files (`ofSource`), which an option such as `--image` or a
 * variable of the shell has set. All other images are determined by the files and the target environment. Images of
 * services that the target does not have (`ofTarget`) are left out.
 */
function testedImages(
  { images }: Facts,
  ofSource: ReadonlyMap<string, string> | undefined,
  ofTarget: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, string> {
  const isTested = (service: string, image: string) =>
    (isPinned(image) || image !== (ofSource?.get(service) ?? image)) && (ofTarget?.has(service) ?? true)
  return new Map(Object.entries(images).filter(([service, image]) => isTested(service, image)))
}

/** Returns the path in the clone for a path in the source's repository; other paths stay unchanged. */
function inClone(path: string, top: string, clone: string): string {
  const inside = pathInside(top, path)
  return inside === undefined ? path : join(clone, inside)
}

/**
 * Returns the environment with the paths in `COMPOSE_FILE` and `COMPOSE_ENV_FILES` converted by `moved`, and that in
 * `PWD`, the current folder, by `inside`.
 */
function envWith(
  env: Workspace['env'],
  moved: (path: string) => string,
  inside: (path: string) => string,
): Workspace['env'] {
  const { COMPOSE_FILE: files, COMPOSE_ENV_FILES: envFiles, COMPOSE_PATH_SEPARATOR: separator } = env
  const movedIn = (list: string, between: string) =>
    list
      .split(between)
      .map(path => path && moved(path))
      .join(between)
  return {
    ...env,
    ...(files && { COMPOSE_FILE: movedIn(files, separator || delimiter) }),
    ...(envFiles && { COMPOSE_ENV_FILES: movedIn(envFiles, ',') }),
    ...(env['PWD'] && { PWD: inside(env['PWD']) }),
  }
}
