import type { ImageBuilder } from '../../builds/builder/builder.ts'
import type { BuiltImage } from '../../builds/built-image.ts'
import { runSection, type SectionResult } from '../../commands/run-section.ts'
import { withLease } from '../../environment/apply/lease.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { newKey, readKept, writeKept } from '../../environment/record/secret-marks.ts'
import type { CommonEvent } from '../../project/events.ts'
import { confirmNamespace } from '../../project/namespaces.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext, Session } from '../../project/session.ts'
import { tellToolFiles } from '../../project/tool-files.ts'
import { withHanded } from '../../project/workspace.ts'
import { ensureNamespace } from '../ensure-namespace.ts'
import { applyCompiled, refuseWithoutServices } from './apply-compiled.ts'
import {
  type CompileContext,
  choicesOf,
  type NotYetBuilt,
  type PreparedForCluster,
  prepareForCluster,
  type RefusedForCluster,
} from './compile-for-cluster.ts'
import type { DeployEvent } from './events.ts'
import type { DeployInput } from './input.ts'
import { hashWarnings, knownWarnings } from './known-warnings.ts'
import type { DeployOutcome } from './outcome.ts'
import { reportLock } from './progress.ts'
import { compileWithStoredVariables } from './stored-variables.ts'

/**
 * Deploys one project. With `forceRecreate`, then also replaces the Pods that the deploy has kept. `above` are the
 * repositories that depend on the project, the nearest last.
 */
export async function deploy(
  world: OperationContext<DeployEvent>,
  input: DeployInput,
  project: OpenProject,
  above: readonly string[] = [],
): Promise<DeployOutcome> {
  const unchanged = new Set<string>()
  const outcome = await deployOnce(world, input, project, above, unchanged)
  if (!input.forceRecreate || outcome.kind !== 'deployed' || unchanged.size === 0) return outcome
  const { restart } = await import('../restart/restart.ts')
  const { environment: name } = outcome
  const { restarted, failed } = await restart(world, { ...input, name, services: [...unchanged] }, project)
  world.on({ type: 'note', text: `${restarted.join(', ')} ${restarted.length === 1 ? 'is' : 'are'} restarted` })
  if (failed.length === 0) return outcome
  const { isUpToDate: _, pruned: __, unready: ___, variables: ____, ...there } = outcome
  return { ...there, kind: 'failed' }
}

/**
 * Deploys one project: first its dependencies, then its commands, then its Compose files, compiled with the variables
 * that the commands passed on. Adds the services whose Pods were kept to `unchanged`.
 */
async function deployOnce(
  world: OperationContext<DeployEvent>,
  input: DeployInput,
  project: OpenProject,
  above: readonly string[],
  unchanged: Set<string>,
): Promise<DeployOutcome> {
  const { session, on } = world
  const { namespace, clock, signal } = session
  const began = clock.now()
  const { workspace } = world
  if (above.length === 0) await tellToolFiles(workspace, on, manifestOf(project)?.folder ?? workspace.cwd)
  const images = imageBuilder(world)
  const manifest = manifestOf(project)
  const hasMoreBefore = runsCommands(input, project) || (manifest?.dependencies.length ?? 0) > 0
  let createNamespace = input.createNamespace ?? false
  const beforeBuild = async (found: NotYetBuilt) => {
    if (!found.hasBuilds && !hasMoreBefore) return
    if (above.length === 0) createNamespace ||= await confirmNamespace(world, { createNamespace })
    await checkEarly(world, input, found, hasMoreBefore)
  }
  // Compile before anything runs, so that errors in the files show immediately.
  const compiled = await prepare({ ...world, beforeBuild }, input, project, images)
  if (!compiled.plan) return { kind: 'refused', diagnostics: compiled.diagnostics }
  // Commands may still set the variables that the warnings are about.
  const told = runsCommands(input, project) ? {} : await tellWarnings(world, input, compiled)
  const environment = compiled.plan.environment.name
  if (above.length === 0) await ensureNamespace(world, { createNamespace })
  const dependencies = new Map<string, Readonly<Record<string, string>>>()
  if (manifest && manifest.dependencies.length > 0) {
    const { deployDependencies } = await import('./dependencies.ts')
    const isDone = await deployDependencies(world, input, manifest, { above, outputs: dependencies, deploy })
    if (!isDone) return { kind: 'dependency-failed' }
  }
  const isPart = isPartOf(input)
  const commands = isPart ? [] : (manifest?.deploy?.commands ?? [])
  if (isPart && manifest?.deploy?.commands.length)
    on({
      type: 'note',
      text: `the commands of ${manifest.shown} do not run when only some services are deployed; \`devctl deploy\` runs them`,
    })
  const base = { began, isHeld: false, signal, unchanged }
  if (!manifest || commands.length === 0) {
    if (manifest && !isPart) await forget(session, environment, on)
    return applyCompiled(world, input, compiled, { ...base, ...told })
  }

  const waiting = (holder: string) => reportLock(on, holder)
  return withLease({ ...session, environment, waiting }, async active => {
    const { hasFailed, variables, diagnostics } = await runSection(
      world,
      {
        commands,
        folder: manifest.folder,
        ...(manifest.dialect && { dialect: manifest.dialect }),
        environment,
        noBash: input.bash === false,
        named: manifest.variables,
        variables: input.var ?? {},
        areVariablesPublic: input.isVarPublic ?? false,
        domain: compiled.domain,
        registry: compiled.registry,
        dependencies,
        built: await builtImages(compiled.built),
      },
      active,
    )
    on({ type: 'diagnostics', diagnostics })
    await keep(session, environment, { variables: { ...input.var, ...variables }, hasFailed }, active)
    if (hasFailed) return { kind: 'command-failed', environment, namespace }
    const isSame = Object.keys(variables).length === 0
    const fresh: OperationContext<DeployEvent> = { ...world, workspace: withHanded(world.workspace, variables) }
    const again = isSame
      ? compiled
      : await prepareForCluster(
          { ...fresh, session: { ...session, signal: active }, beforeBuild },
          input,
          project,
          images,
        )
    if (!again.plan) return { kind: 'refused', diagnostics: again.diagnostics }
    const warnings = await tellWarnings(fresh, input, again)
    return applyCompiled(fresh, input, again, { ...base, ...warnings, isHeld: true, signal: active, variables })
  })
}

/** Returns an image builder that loads the build modules only when there is something to build. */
const imageBuilder = (world: OperationContext<DeployEvent>): ImageBuilder => ({
  async ensure(images, options) {
    const [{ missingImagesBuilder }, { chooseBuilder }] = await Promise.all([
      import('../../builds/ensure-images.ts'),
      import('../../builds/builder/choose-builder.ts'),
    ])
    const { stored, namespace } = world.session.target
    const chosen = chooseBuilder(world.workspace, stored, namespace)
    return missingImagesBuilder(world, chosen).ensure(images, options)
  },
})

async function builtImages(references: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, BuiltImage>> {
  const { builtImage } = await import('../../builds/built-image.ts')
  return new Map([...references].map(([service, reference]) => [service, builtImage(reference)]))
}

const isPartOf = ({ services = [] }: DeployInput): boolean => services.length > 0

const runsCommands = (input: DeployInput, project: OpenProject): boolean =>
  !isPartOf(input) && (manifestOf(project)?.deploy?.commands.length ?? 0) > 0

/**
 * Reports the warnings, and which of them the last deploy has already reported. Returns the hashes to store in the
 * record.
 */
async function tellWarnings(
  { session, workspace }: OperationContext,
  { allWarnings }: DeployInput,
  { plan, services, warnings, part, tell }: PreparedForCluster,
): Promise<{ readonly warnings: readonly string[] }> {
  const hashes = hashWarnings(warnings, services, workspace.secrets)
  const isPart = part !== undefined
  const known = await knownWarnings(session, plan.environment.name, hashes, isPart).catch((error: unknown) => {
    // The warnings are about the files, so report them even if the cluster does not answer.
    tell()
    throw error
  })
  tell(allWarnings ? undefined : known.seen)
  return { warnings: known.hashes }
}

/**
 * Rejects a deploy that is certain to fail, before images are built and commands run. Throws like `refuseEarly`, and
 * throws a UserError if the files have no services and no commands come first (`hasMoreBefore`).
 */
async function checkEarly(
  { session }: OperationContext,
  input: DeployInput,
  found: NotYetBuilt,
  hasMoreBefore: boolean,
): Promise<void> {
  const { plan, synth, services, source } = found
  // Commands may still set the profiles.
  if (!hasMoreBefore) refuseWithoutServices(plan, services)
  const { cluster, namespace, signal } = session
  const { refuseEarly } = await import('../../environment/plan/early-refusals.ts')
  const choices = choicesOf(input, found)
  await refuseEarly({ cluster, plan, synth, namespace, source, choices, hasMoreBefore }, { signal })
}

/**
 * Compiles the project before the commands run. If no commands have to run, compiles it with the variables that they
 * passed on in the last deploy.
 */
function prepare(
  world: OperationContext<DeployEvent> & Pick<CompileContext, 'beforeBuild'>,
  input: DeployInput,
  project: OpenProject,
  images: ImageBuilder,
): Promise<PreparedForCluster | RefusedForCluster> {
  return runsCommands(input, project)
    ? prepareForCluster(world, input, project, images)
    : compileWithStoredVariables(world, input, project, images)
}

/**
 * Stores the variables of a deploy for the commands of destroy, and for projects that depend on the environment. After
 * a failure, also keeps those of the last deploy, because not all commands have run.
 */
async function keep(
  { cluster, namespace }: Session,
  environment: string,
  { variables, hasFailed }: Pick<SectionResult, 'variables' | 'hasFailed'>,
  signal: AbortSignal,
): Promise<void> {
  const isEmpty = isEmptyObject(variables)
  const read = readKept(cluster, environment, namespace, { signal })
  const before = await (isEmpty ? unlessForbidden(read, undefined) : read)
  const stored = before?.variables ?? {}
  if (isEmpty && (hasFailed || isEmptyObject(stored))) return
  const all = hasFailed ? { ...stored, ...variables } : variables
  await writeKept(cluster, environment, namespace, { key: before?.key ?? newKey(), variables: all }, { signal })
}

/** Deletes the stored variables of an environment whose manifest no longer has commands. */
async function forget(session: Session, environment: string, on: (event: CommonEvent) => void): Promise<void> {
  const { cluster, namespace, signal } = session
  const kept = await unlessForbidden(readKept(cluster, environment, namespace, { signal }), undefined)
  if (!kept || kept.isEnding || isEmptyObject(kept.variables)) return
  const waiting = (holder: string) => reportLock(on, holder)
  await withLease({ ...session, environment, waiting }, active =>
    keep(session, environment, { variables: {}, hasFailed: false }, active),
  )
}

const isEmptyObject = (object: object): boolean => Object.keys(object).length === 0
