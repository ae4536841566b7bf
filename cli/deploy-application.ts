import { tellTarget } from './apply-compiled.ts'
import type { Context } from './command.ts'
import type { DeployValues } from './deploy-values.ts'
import { startProgress } from './progress/progress.ts'
import { withProject } from './project-session.ts'

/** Deploys what a project depends on, runs its commands, then brings the environment in the cluster to what the files say. */
export async function deployApplication(context: Context, options: DeployValues): Promise<number> {
  return withProject(context, options, async (own, project, session) => {
    const { deployProject } = await import('./deploy-project.ts')
    const { clock } = session
    const progress = await startProgress(own.io, own.logLevel, options.output, () => clock.now())
    tellTarget(own, session, progress)
    const { status } = await deployProject(own, options, project, session, progress, [])
    return status
  })
}
