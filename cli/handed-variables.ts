import { manifestOf } from '../operations/project/open-project.ts'
import type { OpenProject } from '../operations/project/opened-project.ts'
import type { Session } from './cluster-session.ts'
import type { Context } from './command.ts'
import {
  type CompiledForCluster,
  compileForCluster,
  type ForCluster,
  prepareForCluster,
} from './compile-for-cluster.ts'
import type { Progress } from './progress/events.ts'
import { withVariables } from './project-session.ts'

/**
 * Compiles for the cluster where the commands of the manifest are not run: what they handed on at the last deploy stands for it. Undefined after errors, which are
 * printed.
 */
export async function compileWithHanded(
  context: Context,
  options: ForCluster,
  project: OpenProject,
  session: Session,
  progress: Progress,
): Promise<CompiledForCluster | undefined> {
  if (!manifestOf(project)?.deploy?.commands.length)
    return compileForCluster(context, options, project, session, progress)
  const compiled = await prepareForCluster(context, options, project, session, progress)
  if (!compiled) return undefined
  const { cluster, namespace, signal } = session
  const { readKept } = await import('../environment/secret-marks.ts')
  const kept = await readKept(cluster, compiled.plan.environment.name, namespace, { signal })
  if (!kept || Object.keys(kept.variables).length === 0) {
    compiled.tell()
    return compiled
  }
  const io = withVariables(context.io, { ...kept.variables, ...options.var })
  return compileForCluster({ ...context, io }, options, project, session, progress)
}
