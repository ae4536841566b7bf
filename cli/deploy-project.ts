import { withLease } from '../environment/lease.ts'
import { newKey, readKept, writeKept } from '../environment/secret-marks.ts'
import { manifestOf } from '../operations/project/open-project.ts'
import type { OpenProject } from '../operations/project/opened-project.ts'
import { applyCompiled } from './apply-compiled.ts'
import type { Session } from './cluster-session.ts'
import type { Context } from './command.ts'
import {
  type CompiledForCluster,
  compileForCluster,
  type PreparedForCluster,
  prepareForCluster,
  report,
} from './compile-for-cluster.ts'
import { tellLocked } from './deploy-progress.ts'
import type { Deployed, DeployValues } from './deploy-values.ts'
import { compileWithHanded } from './handed-variables.ts'
import { ensureNamespace } from './namespaces.ts'
import type { Progress } from './progress/events.ts'
import { withVariables } from './project-session.ts'
import { runSection } from './run-section.ts'

/**
 * Deploys one project: its dependencies first, then its commands, then its Compose files, compiled with what the commands handed on. `above` are the
 * repositories that depend on it, the nearest last.
 */
export async function deployProject(
  context: Context,
  options: DeployValues,
  project: OpenProject,
  session: Session,
  progress: Progress,
  above: readonly string[],
): Promise<Deployed> {
  const { namespace, clock, signal } = session
  const began = clock.now()
  // Before anything is run: what is wrong in the files shows at once.
  const compiled = await prepare(context, options, project, session, progress)
  if (!compiled) return { status: 1 }
  const environment = compiled.plan.environment.name
  if (above.length === 0) await ensureNamespace(context, options, session, progress)
  const manifest = manifestOf(project)
  const dependencies = new Map<string, Readonly<Record<string, string>>>()
  if (manifest && manifest.dependencies.length > 0) {
    const { deployDependencies } = await import('./dependencies.ts')
    const status = await deployDependencies(
      context,
      options,
      manifest,
      session,
      progress,
      above,
      dependencies,
      deployProject,
    )
    if (status !== 0) return { status }
  }
  const isPart = options.services.length > 0
  const commands = isPart ? [] : (manifest?.deploy?.commands ?? [])
  if (isPart && manifest?.deploy?.commands.length)
    progress.tell({
      type: 'note',
      text: `the commands of ${manifest.shown} are not run for a part of it; \`devctl deploy\` runs them`,
    })
  const base = { began, isHeld: false, signal }
  if (!manifest || commands.length === 0) {
    return { status: await applyCompiled(context, options, compiled, session, progress, base), environment }
  }

  const waiting = (holder: string) => tellLocked(progress, holder)
  return withLease({ ...session, environment, waiting }, async active => {
    const { hasFailed, variables, diagnostics } = await runSection(
      context.io,
      session,
      {
        commands,
        folder: manifest.folder,
        environment,
        noBash: !options.bash,
        variables: options.var ?? {},
        areVariablesPublic: options.isVarPublic ?? false,
        domain: compiled.domain,
        registry: compiled.registry,
        dependencies,
      },
      progress,
      active,
    )
    progress.pause()
    report(context, options.output, diagnostics)
    const kept = { ...options.var, ...variables }
    if (Object.keys(kept).length > 0) await keep(session, environment, kept, active)
    if (hasFailed) {
      context.io.stderr.write(`${environment} is not deployed to ${namespace}: a command failed\n`)
      return { status: 1 }
    }
    const fresh: Context = { ...context, io: withVariables(context.io, variables) }
    const isSame = Object.keys(variables).length === 0
    if (isSame) compiled.tell?.()
    const again = isSame
      ? compiled
      : await compileForCluster(fresh, options, project, { ...session, signal: active }, progress)
    if (!again) return { status: 1 }
    const how = { ...base, isHeld: true, signal: active }
    return { status: await applyCompiled(fresh, options, again, session, progress, how), environment, variables }
  })
}

/** Compiles before the commands run; with `tell` the warnings come later, since the commands may set the variables that they are about. */
function prepare(
  context: Context,
  options: DeployValues,
  project: OpenProject,
  session: Session,
  progress: Progress,
): Promise<(CompiledForCluster & Partial<PreparedForCluster>) | undefined> {
  const runsCommands = options.services.length === 0 && (manifestOf(project)?.deploy?.commands.length ?? 0) > 0
  const compile = runsCommands ? prepareForCluster : compileWithHanded
  return compile(context, options, project, session, progress)
}

/** Keeps variables for the commands of destroy, and for those who depend on the environment. */
async function keep(
  { cluster, namespace }: Session,
  environment: string,
  variables: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const before = await readKept(cluster, environment, namespace, { signal })
  await writeKept(cluster, environment, namespace, { key: before?.key ?? newKey(), variables }, { signal })
}
