import type { KubeObject } from '../adapters/kubernetes/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { MIRROR_LABEL } from '../constructs/mirror/names.ts'
import { upRecordOf } from '../environment/record/up-record.ts'
import type { OperationContext, Session } from '../project/session.ts'
import { containerRuns } from './exec/container-runs.ts'
import { holds, restartProgram } from './exec/restart-program.ts'
import { developedContainer, findMirrors, podsOf } from './mirror/find-mirror.ts'
import { askUp } from './session/ask.ts'

/** Parts of a development container that were restarted. */
export interface RestartedDevelopment {
  /** Names of the restarted workloads of `services`; empty if the development container's own program was restarted. */
  readonly services: readonly string[]
}

/**
 * Restarts the programs of the `services` of a development container. Without `services`, restarts the development
 * container's own program: the command of `up` on this machine, or the program that process 1 of the container runs.
 * Returns undefined if no development container of this name is active. Throws a UserError if nothing can be restarted.
 */
export async function restartDevelopment(
  world: Pick<OperationContext, 'workspace' | 'session'>,
  dev: string,
): Promise<RestartedDevelopment | undefined> {
  const { session } = world
  const { main, beside } = await findMirrors(session, dev)
  if (!main) return undefined
  for (const mirror of beside) await restartIn(session, mirror)
  if (beside.length > 0)
    return { services: beside.map(one => one.metadata.labels?.[MIRROR_LABEL] ?? one.metadata.name) }
  const isDone = (await askUp(world, dev, { ask: 'restart' })) !== undefined || (await restartIn(session, main))
  if (isDone) return { services: [] }
  throw new UserError(`nothing of \`${dev}\` can be restarted from here`, {
    notes: [`\`devctl up ${dev}\` of ${upRecordOf(main)?.by ?? 'somebody'} runs its command`],
    hint: `run \`devctl restart ${dev}\` on that machine`,
  })
}

/**
 * Restarts the program that process 1 of a mirror's container runs. Returns false if process 1 only waits for commands.
 */
async function restartIn(session: Session, mirror: KubeObject): Promise<boolean> {
  const container = developedContainer(mirror)
  if (holds(mirror, container)) return false
  for (const pod of await podsOf(session, mirror))
    if (await containerRuns(session, pod, container)) await restartProgram(session, pod, container, session.signal)
  return true
}
