import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { usableVariables } from '../../commands/kept-variables.ts'
import type { ManifestCommand } from '../../commands/run-commands.ts'
import { runSection } from '../../commands/run-section.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { DestroyEnvironmentInput as EnvironmentInput } from '../../environment/apply/destroy.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { type NamespaceState, takesAllAlong } from '../../environment/plan/namespace.ts'
import { missingOnPlatform } from '../../platform/session/missing-namespace.ts'
import { findEnvironment, findName } from '../../project/known-environment.ts'
import { hasNamespace, similarNamespace } from '../../project/namespaces.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { reportLock } from '../deploy/progress.ts'
import type { DestroyEvent } from './events.ts'
import type { DestroyInput } from './input.ts'
import type { DestroyOutcome } from './outcome.ts'
import { refuseForServices, selectServices } from './services.ts'

/**
 * Destroys an environment, or some of its services: runs the `destroy` commands, deletes the objects that commands and
 * deploy created, and then, if requested, destroys the dependencies. Reports each outcome, and returns the outcome of
 * the environment. Throws a UserError if the user declines, or cannot be asked.
 */
export async function destroy(
  world: OperationContext<DestroyEvent>,
  input: DestroyInput,
  project: OpenProject,
): Promise<DestroyOutcome> {
  const { services = [] } = input
  if (services.length > 0) {
    refuseForServices(input)
    const known = await findEnvironment(world, input, project)
    const select = await selectServices(world.ask, services, known, input)
    return destroyProject(world, input, project, { environment: known.name, select })
  }
  const environment = await findName(world, input, project)
  if (input.all) await confirmAll(world, input, environment)
  return destroyProject(world, input, project, { environment })
}

/**
 * Asks for confirmation, because PersistentVolumeClaims and dependencies cannot be restored. Throws a UserError if the
 * user declines, or cannot be asked.
 */
async function confirmAll(
  { ask, session }: OperationContext,
  { yes }: DestroyInput,
  environment: string,
): Promise<void> {
  if (yes) return
  if (!ask?.mayDestroyAll) throw new UsageError('`--all` needs a confirmation', { hint: 'add `--yes`' })
  if (!(await ask.mayDestroyAll(environment, session.namespace))) throw new UserError('nothing was destroyed')
}

/** The environment of a project, or a part of it. */
interface DestroyTarget {
  readonly environment: string
  /** Repositories that depend on the project, the nearest last. */
  readonly above?: readonly string[]
  /** Selects the objects to delete. Absent if the full environment is destroyed. */
  readonly select?: NonNullable<EnvironmentInput['select']>
}

async function destroyProject(
  world: OperationContext<DestroyEvent>,
  input: DestroyInput,
  project: OpenProject,
  { environment, above = [], select }: DestroyTarget,
): Promise<DestroyOutcome> {
  const { session, on } = world
  const { cluster, namespace, clock, signal, holder } = session
  const { all = false, wait: waits = false, services = [] } = input
  const began = clock.now()
  const manifest = select ? undefined : manifestOf(project)
  const volumes = input.volumes || all
  const of = { environment, namespace, ...(select && { named: services }) }
  const { destroyEnvironment } = await import('../../environment/apply/destroy.ts')
  const missing = (await hasNamespace(session)) === undefined ? await missingOnPlatform(world) : undefined
  let planned: number | undefined
  let deleted = 0
  const result = await destroyEnvironment(
    {
      cluster,
      environment,
      namespace,
      holder,
      volumes,
      wait: waits,
      ...(missing && { isNamespaceGone: true }),
      ...(select
        ? { select }
        : { before: (active, state) => runCommands({ ...world, state }, input, project, environment, active) }),
    },
    {
      clock,
      signal,
      events: {
        planned(doomed) {
          planned = doomed.length
        },
        mayDelete: objects => mayDeleteOfCluster(world, input, environment, objects),
        deleted(object) {
          deleted++
          on({ type: 'note', text: `deleted ${object}` })
        },
        locked: holder => reportLock(on, holder),
      },
    },
  ).catch((error: unknown) => {
    if (planned !== undefined && (signal.aborted || deleted > 0))
      on({ type: 'destroy-stopped', ...of, deleted, planned })
    throw error
  })
  const { wasEmpty, isNamespaceGone, kept, held } = result
  const near = missing ? missing.similar : isNamespaceGone ? await similarNamespace(session) : undefined
  const goes = all || input.dependencies
  const dependencies = manifest?.dependencies.map(({ name }) => name) ?? []
  const left = goes || isNamespaceGone ? [] : dependencies
  const milliseconds = clock.now() - began
  const outcome = {
    ...of,
    wasEmpty,
    isNamespaceGone,
    ...(missing && { isPerhapsForeign: true as const }),
    ...(near !== undefined && { similarNamespace: near }),
    deleted: result.deleted,
    kept,
    volumes,
    held,
    waits,
    left,
    milliseconds,
  }
  on({ type: 'destroyed', outcome })
  if (manifest && goes && dependencies.length > 0) {
    const { destroyDependencies } = await import('./dependencies.ts')
    await destroyDependencies(world, input, manifest, above, destroyProject)
  }
  return outcome
}

/**
 * Runs the `destroy` commands of the manifest with the variables that the deploy stored, and then uninstalls Helm
 * releases. The commands also run if the namespace no longer exists, because commands may have created objects outside
 * the namespace.
 */
async function runCommands(
  world: OperationContext<DestroyEvent> & { readonly state: NamespaceState },
  input: DestroyInput,
  project: OpenProject,
  environment: string,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, namespace } = world.session
  const manifest = manifestOf(project)
  const [{ readKept }, { listHelmReleases, listTemplateClaims, uninstallCommand }] = await Promise.all([
    import('../../environment/record/secret-marks.ts'),
    import('../../commands/helm-releases.ts'),
  ])
  const commands = manifest?.destroy?.commands ?? []
  const hasCommands = commands.length > 0 || (manifest?.deploy?.commands.length ?? 0) > 0
  // Nothing in a missing namespace can be read, and on a platform its members get 403.
  const isGone = world.state === 'gone'
  const kept = hasCommands && !isGone ? await readKept(cluster, environment, namespace, { signal }) : undefined
  const named = manifest?.variables ?? new Set()
  const { taken, unnamed } = usableVariables(kept?.variables ?? {}, named, world.on)
  const variables = { ...taken, ...input.var }
  const run = async (list: readonly ManifestCommand[]) => {
    const { hasFailed, diagnostics } = await runSection(
      world,
      {
        commands: list,
        folder: manifest?.folder ?? world.workspace.cwd,
        ...(manifest?.dialect && { dialect: manifest.dialect }),
        environment,
        noBash: input.bash === false,
        named,
        unnamed,
        variables,
        domain: undefined,
        registry: undefined,
        dependencies: new Map(),
        built: new Map(),
      },
      signal,
    )
    world.on({ type: 'diagnostics', diagnostics })
    if (hasFailed)
      throw new UserError(`${environment} is not destroyed: a command failed`, {
        hint: 'nothing was deleted yet; fix the command, or make it exit 0 when it has nothing to do',
      })
  }
  if (commands.length > 0 && takesAllAlong(world.state) && !kept)
    world.on({
      type: 'note',
      text: `namespace ${namespace} ${isGone ? 'does not exist' : 'is being deleted'}: the commands of \`destroy\` run without the variables of the last deploy`,
    })
  if (commands.length > 0) await run(commands)
  if (isGone) return
  const claims = input.volumes || input.all ? await listTemplateClaims(cluster, environment, namespace, { signal }) : []
  const releases = await listHelmReleases(cluster, environment, namespace, { signal })
  if (releases.length > 0) await run([uninstallCommand(releases, namespace)])
  for (const name of claims)
    await cluster.delete({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace }, { signal })
}

/**
 * Returns true with `--yes`, or if the user confirms the deletion of cluster-scoped objects, which other applications
 * may use. Throws a UserError if the user has to be asked and cannot be.
 */
async function mayDeleteOfCluster(
  { ask }: OperationContext,
  { yes }: DestroyInput,
  environment: string,
  objects: readonly KubeObject[],
): Promise<boolean> {
  const names = objects.map(nameOf)
  if (yes) return true
  if (!ask?.mayDeleteOfCluster)
    throw new UserError(`commands of ${environment} created cluster-scoped objects, which would be deleted`, {
      notes: names,
      hint: 'nothing was destroyed; if nothing else uses them, add `--yes`',
    })
  return ask.mayDeleteOfCluster(names)
}
