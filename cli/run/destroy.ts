import type { Context } from '../command.ts'
import type { DestroyValues } from '../commands/destroy.ts'
import { questionsFor, toTerminal } from '../terminal/operation-events.ts'
import { startProgress } from '../terminal/progress/progress.ts'
import { withProject } from './project-session.ts'

/** Removes an environment from the cluster. Without a name, removes the environment that the files name. */
export async function destroyApplication(
  context: Context,
  services: readonly string[],
  options: DestroyValues,
): Promise<number> {
  if (options.rmi !== undefined && context.logLevel !== 'error')
    context.io.stderr.write('note: images stay in the registry; the nodes delete unused ones by themselves\n')
  return withProject(
    context,
    { ...options, usesPlatform: { form: 'text', mayBeGone: true } },
    async (own, project, session) => {
      const { destroy } = await import('../../operations/destroy/destroy.ts')
      const progress = await startProgress(own.io, own.logLevel, 'text', () => session.clock.now())
      const on = toTerminal(own, progress, 'text')
      const world = { workspace: own.io, session, on, ask: questionsFor(own, progress) }
      await destroy(world, { ...options, services }, project).finally(() => progress.pause())
      return 0
    },
  )
}
