import { stateHome } from '../project/contexts/home.ts'
import { requireNamespace } from '../project/namespaces.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { DevelopContext } from './context.ts'
import { knownDevelopments } from './mirror/known-developments.ts'
import { restoreWorkload } from './mirror/restore-workload.ts'
import type { DevelopmentInput, SeveralInput } from './select/find-development.ts'
import { sessionKey, stopUp } from './session/ask.ts'
import { forgetFailure } from './session/session-end.ts'
import { sessionFolder } from './session/session-folder.ts'

export interface DownInput extends Omit<DevelopmentInput, 'dev'>, SeveralInput {
  /** True to delete the volume claims that contain the files. */
  readonly volumes?: boolean | undefined
}

export interface DownOutcome {
  readonly dev: string
  /** False if there was nothing to end. */
  readonly wasActive: boolean
  /** Workload that was restored, such as `deployment/api`; undefined if there was none. */
  readonly restored: string | undefined
}

/**
 * Ends the sessions of development containers, deletes their mirrors and restores the original applications. Handles
 * all containers concurrently; a failure with one container does not stop the others, and is thrown at the end.
 */
export async function down(
  world: DevelopContext,
  input: DownInput,
  project: OpenProject,
): Promise<readonly DownOutcome[]> {
  const names = await knownDevelopments(world, input, project, { one: !input.all })
  const results = await Promise.allSettled(names.map(name => downOne(world, name, input.volumes ?? false)))
  const failures = results.flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
  return results.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
}

async function downOne(world: DevelopContext, dev: string, volumes: boolean): Promise<DownOutcome> {
  const { session } = world
  // The session closes its connections before the mirror is deleted, so that no lost connection is reported.
  await stopUp(world, dev)
  const { wasActive, restored } = await restoreWorkload(session, { name: dev }, { volumes }, world.on)
  forgetFailure(sessionFolder(stateHome(world.workspace), sessionKey(session, dev)))
  if (!wasActive) await requireNamespace(session)
  return { dev, wasActive, restored }
}
