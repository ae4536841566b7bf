import type { KubeObject } from '../cluster/cluster.ts'
import { plural } from '../compiler/diagnostics/render/summary.ts'
import { UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
import type { DestroyInput } from '../environment/destroy.ts'
import { nameOf } from '../environment/wanted.ts'
import { runSection } from '../operations/commands/run-section.ts'
import { tellLocked } from '../operations/deploy/progress.ts'
import { requireNamespace } from '../operations/namespaces.ts'
import { manifestOf } from '../operations/project/open-project.ts'
import type { OpenProject } from '../operations/project/opened-project.ts'
import type { Session } from '../operations/session.ts'
import type { Context } from './command.ts'
import { refuseForServices, selectServices } from './destroy-services.ts'
import type { DestroyValues } from './destroy-values.ts'
import { readableDuration } from './duration-option.ts'
import { findEnvironment, findName } from './environment-of-files.ts'
import type { Progress } from './progress/events.ts'
import { startProgress } from './progress/progress.ts'
import { withProject } from './project-session.ts'
import { printDiagnostics, printSummary } from './report.ts'
import { toTerminal } from './terminal-events.ts'

/** Takes an environment out of the cluster again. Without a name it is the one that the files have. */
export async function destroyApplication(context: Context, options: DestroyValues): Promise<number> {
  const { services } = options
  if (services.length > 0) refuseForServices(options)
  return withProject(context, options, async (own, project, session) => {
    if (services.length > 0) {
      const known = await findEnvironment(own, options, project)
      const progress = await startProgress(own.io, own.logLevel, 'text', () => session.clock.now())
      const select = await selectServices(own, services, known, options)
      return destroyProject(own, options, project, known.name, session, progress, [], select)
    }
    const environment = await findName(own, options, project)
    if (options.all) await confirm(own, options, environment, session)
    const progress = await startProgress(own.io, own.logLevel, 'text', () => session.clock.now())
    return destroyProject(own, options, project, environment, session, progress, [])
  })
}

/** Destroys one environment: its commands first, then what they and deploy made, then, when asked, what it depends on. */
export async function destroyProject(
  context: Context,
  options: DestroyValues,
  project: OpenProject,
  environment: string,
  session: Session,
  progress: Progress,
  above: readonly string[],
  select?: NonNullable<DestroyInput['select']>,
): Promise<number> {
  const { io, logLevel } = context
  const { cluster, namespace, clock, signal, holder } = session
  const began = clock.now()
  const subject = select ? `${options.services.join(', ')} of ${environment}` : environment
  const are = select && options.services.length > 1 ? 'are' : 'is'
  const manifest = select ? undefined : manifestOf(project)
  const volumes = options.volumes || options.all
  const { destroyEnvironment } = await import('../environment/destroy.ts')
  let planned: number | undefined
  let deleted = 0
  const result = await destroyEnvironment(
    {
      cluster,
      environment,
      namespace,
      holder,
      volumes,
      wait: options.wait,
      ...(select
        ? { select }
        : { before: active => runCommands(context, options, project, environment, session, progress, active) }),
    },
    {
      clock,
      signal,
      events: {
        planned(doomed) {
          planned = doomed.length
        },
        mayDelete: objects => confirmOfCluster(context, options, environment, objects, progress),
        deleted(object) {
          deleted++
          progress.tell({ type: 'note', text: `deleted ${object}` })
        },
        locked: holder => tellLocked(toTerminal(context, progress, 'text'), holder),
      },
    },
  ).catch((error: unknown) => {
    progress.pause()
    if (planned !== undefined && (signal.aborted || deleted > 0))
      io.stderr.write(stoppedText(subject, namespace, deleted, planned))
    throw error
  })
  progress.pause()
  if (result.wasEmpty) await requireNamespace(session)
  if (result.kept.length > 0) {
    const hint = volumes ? '' : ' (`--volumes` deletes claims)'
    io.stderr.write(`kept ${result.kept.join(', ')}${hint}\n`)
  }
  for (const { object, why } of result.held) io.stderr.write(`kept ${object}: ${why}\n`)
  const took = readableDuration(clock.now() - began)
  printSummary(
    result.wasEmpty
      ? `there is nothing of ${subject} in ${namespace}`
      : `${subject} ${are} destroyed in ${namespace}: ${plural(result.deleted.length, 'object')}${options.wait ? '' : ', not waited for'} (${took})`,
    io,
    logLevel,
  )
  if (!manifest || manifest.dependencies.length === 0) return 0
  if (!options.all && !options.dependencies) {
    const names = manifest.dependencies.map(({ name }) => name).join(', ')
    printSummary(`left ${names} as they are (\`--dependencies\` destroys them, too)`, io, logLevel)
    return 0
  }
  const { destroyDependencies } = await import('./destroy-dependencies.ts')
  return destroyDependencies(context, options, manifest, session, progress, above, destroyProject)
}

/** What state things are in when a destroy is stopped. */
function stoppedText(environment: string, namespace: string, deleted: number, planned: number): string {
  const what =
    deleted < planned
      ? `${deleted} of ${plural(planned, 'object')} deleted`
      : `${plural(planned, 'object')} deleted, but perhaps not gone yet`
  return `${environment} is partly destroyed in ${namespace}: ${what}. Destroy again to go on\n`
}

/** The commands of the manifest, with the variables that the deploy kept, and after them what takes Helm releases away. */
async function runCommands(
  context: Context,
  options: DestroyValues,
  project: OpenProject,
  environment: string,
  session: Session,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { io, logLevel } = context
  const { cluster, namespace } = session
  const manifest = manifestOf(project)
  const [{ readKept }, { listHelmReleases, listTemplateClaims, uninstallCommand }] = await Promise.all([
    import('../environment/secret-marks.ts'),
    import('../shell/helm-releases.ts'),
  ])
  const commands = manifest?.destroy?.commands ?? []
  const hasCommands = commands.length > 0 || (manifest?.deploy?.commands.length ?? 0) > 0
  const kept = hasCommands ? await readKept(cluster, environment, namespace, { signal }) : undefined
  const run = async (list: typeof commands | readonly { name: string; command: string }[]) => {
    const { hasFailed, diagnostics } = await runSection(
      { workspace: io, session, on: toTerminal(context, progress, 'text') },
      {
        commands: list,
        folder: manifest?.folder ?? io.cwd,
        environment,
        noBash: !options.bash,
        variables: { ...kept?.variables, ...options.var },
        domain: undefined,
        registry: undefined,
        dependencies: new Map(),
      },
      signal,
    )
    progress.pause()
    printDiagnostics(diagnostics, io, logLevel)
    if (hasFailed)
      throw new UserError(`${environment} is not destroyed: a command failed`, {
        hint: 'nothing was deleted yet; mend the command, or make it end well when there is nothing for it to do',
      })
  }
  if (commands.length > 0) await run(commands)
  const claims =
    options.volumes || options.all ? await listTemplateClaims(cluster, environment, namespace, { signal }) : []
  const releases = await listHelmReleases(cluster, environment, namespace, { signal })
  if (releases.length > 0)
    await run([{ name: `uninstall ${releases.join(', ')}`, command: uninstallCommand(releases, namespace) }])
  for (const name of claims)
    await cluster.delete({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace }, { signal })
}

/** What belongs to the whole cluster may be in use by others: it is listed, and somebody has to say so. */
async function confirmOfCluster(
  { io }: Context,
  { yes }: DestroyValues,
  environment: string,
  objects: readonly KubeObject[],
  progress: Progress,
): Promise<boolean> {
  const names = objects.map(nameOf)
  if (yes) return true
  if (!io.choose)
    throw new UserError(`commands of ${environment} made objects of the whole cluster, which would be deleted`, {
      notes: names,
      hint: 'add `--yes` if nobody else needs them; nothing was destroyed',
    })
  progress.pause()
  for (const name of names) io.stderr.write(` ${name}\n`)
  const question = `Delete ${names.length === 1 ? 'this object' : 'these objects'} of the whole cluster, too?`
  return (await io.choose(question, [{ value: 'no' }, { value: 'yes' }])) === 'yes'
}

/** Claims and dependencies do not come back: somebody has to say so. */
async function confirm(
  { io }: Context,
  { yes }: DestroyValues,
  environment: string,
  { namespace }: Session,
): Promise<void> {
  if (yes) return
  const question = `Destroy ${environment} in ${namespace} with its data and what it depends on?`
  if (!io.choose) throw new UsageError('`--all` needs somebody to confirm it', { hint: 'add `--yes`' })
  const answer = await io.choose(question, [{ value: 'no' }, { value: 'yes' }])
  if (answer !== 'yes') throw new UserError('nothing was destroyed')
}
