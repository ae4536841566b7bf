import type { ImageBuilder } from '../../builds/builder/builder.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { withHanded } from '../../project/workspace.ts'
import {
  type CompileContext,
  type PreparedForCluster,
  prepareForCluster,
  type RefusedForCluster,
} from './compile-for-cluster.ts'
import type { DeployEvent } from './events.ts'
import type { ForCluster } from './input.ts'

/**
 * Compiles for the cluster without running the commands of the manifest: uses the variables that they passed on in the
 * last deploy. The caller reports the warnings.
 */
export async function compileWithStoredVariables(
  world: OperationContext<DeployEvent> & Pick<CompileContext, 'beforeBuild'>,
  options: ForCluster,
  project: OpenProject,
  images: ImageBuilder,
): Promise<PreparedForCluster | RefusedForCluster> {
  if (!manifestOf(project)?.deploy?.commands.length) return prepareForCluster(world, options, project, images)
  const compiled = await prepareForCluster(world, options, project, images)
  if (!compiled.plan) return compiled
  const { cluster, namespace, signal } = world.session
  const [{ readKept }, { usableVariables }] = await Promise.all([
    import('../../environment/record/secret-marks.ts'),
    import('../../commands/kept-variables.ts'),
  ])
  const kept = await readKept(cluster, compiled.plan.environment.name, namespace, { signal })
  if (!kept || Object.keys(kept.variables).length === 0) return compiled
  // All names are usable, because the variables are used only in Compose files here and not passed to programs.
  const { taken } = usableVariables(kept.variables, new Set(Object.keys(kept.variables)), world.on)
  const workspace = withHanded(world.workspace, { ...taken, ...options.var })
  return prepareForCluster({ ...world, workspace }, options, project, images)
}
