import type { OpenProject } from '../../project/opened-project.ts'
import type { LocalContext } from '../../project/session.ts'
import { startClone } from '../repository/started-clone.ts'
import type { PublishEvent } from './events.ts'
import type { PublishInput } from './input.ts'
import type { PublishOutcome } from './outcome.ts'
import { artifactDestination } from './target/artifact-destination.ts'
import { earlyTarget, refuseNoRepository } from './target/destination.ts'

/**
 * Compiles an application and commits it to its GitOps repository, with a pull request if requested, or pushes it to a
 * registry. Throws a UserError, before anything is pushed, if the destination is unknown or the publish cannot proceed;
 * an `OverwriteRefusal` for files that were edited by hand.
 */
export async function publish(
  world: LocalContext<PublishEvent>,
  input: PublishInput,
  project: OpenProject,
): Promise<PublishOutcome> {
  const { workspace, signal } = world
  const destination = artifactDestination(input, project)
  if (destination) {
    const { publishToRegistry } = await import('./target/to-registry.ts')
    return publishToRegistry(world, input, { project, destination })
  }
  refuseNoRepository(input, project)
  const target = earlyTarget(workspace, input, project)
  // The repository is cloned while the project is compiled.
  const startedClone = target && startClone(target, { env: workspace.env, signal })
  try {
    // The remaining modules are loaded while git works.
    const { publishToRepository } = await import('./target/to-repository.ts')
    return await publishToRepository(world, input, { project, ...(startedClone && { startedClone }) })
  } finally {
    await startedClone?.end()
  }
}
