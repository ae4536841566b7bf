import { begin } from '../../operations/gitops/beginning.ts'
import { openProject } from '../../operations/project/open-project.ts'
import type { Context } from '../command.ts'
import { withDeadline } from '../deadline.ts'
import type { Progress } from '../progress/events.ts'
import { startProgress } from '../progress/progress.ts'
import { artifactDestination } from './artifact-destination.ts'
import { earlyTarget, refuseNoRepository } from './destination.ts'
import type { PublishValues } from './publish-values.ts'

/** Compiles an application and commits it to its GitOps repository, or pushes it as an artifact. Gives the exit status. */
export async function publishApplication(context: Context, options: PublishValues): Promise<number> {
  const { io, logLevel } = context
  const hint = 'give it longer with `--timeout`; nothing is half published'
  return withDeadline(io, { timeout: options.timeout, hint }, async signal => {
    const progress = await startProgress(io, logLevel, 'text', () => Date.now())
    return publishProject(context, options, progress, signal)
  })
}

/** The same for who has a deadline already. */
export async function publishProject(
  context: Context,
  options: PublishValues,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { io } = context
  const project = await openProject(io, options)
  const destination = artifactDestination(options, project)
  if (destination) {
    const { publishAsArtifact } = await import('./publish-artifact.ts')
    return publishAsArtifact(context, options, { project, destination }, progress, signal)
  }
  refuseNoRepository(options, project)
  const target = earlyTarget(io, options, project)
  // The repository comes while we compile.
  const beginning = target && begin(target, { env: io.env, signal })
  try {
    // All else is loaded while git works.
    const { publishOpened } = await import('./publish-opened.ts')
    return await publishOpened(context, options, { project, ...(beginning && { beginning }) }, progress, signal)
  } finally {
    await beginning?.end()
  }
}
