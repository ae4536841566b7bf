import type { KubeObject } from '../adapters/kubernetes/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { toServiceName } from '../compiler/plan/object-names.ts'
import { isDnsLabel } from '../compiler/values/dns-name.ts'
import { upRecordOf } from '../environment/record/up-record.ts'
import type { OperationContext, Session } from '../project/session.ts'
import { containerRuns } from './exec/container-runs.ts'
import { holds, restartProgram } from './exec/restart-program.ts'
import { type ActiveMirrors, developedContainer, findMirrors, podsOf } from './mirror/find-mirror.ts'
import { listed } from './select/choose.ts'
import { askUp } from './session/ask.ts'

/** Parts of a development container that were restarted. */
export interface RestartedDevelopment {
  /** Names of the restarted workloads of `services`; empty if the development container's own program was restarted. */
  readonly services: readonly string[]
}

/**
 * Restarts the programs of the `services` of a development container. Without `services`, restarts the development
 * container's own program: the command of `up` on this machine, or the program that process 1 of the container runs.
 * `name` is the name of the development container, or of its service in the Compose file. Returns undefined if no
 * development container of this name is active. Throws a UserError if a program is not restarted.
 */
export async function restartDevelopment(
  world: Pick<OperationContext, 'workspace' | 'session'>,
  name: string,
): Promise<RestartedDevelopment | undefined> {
  const { session } = world
  for (const dev of new Set([name, toServiceName(name)])) {
    const { main, beside } = isDnsLabel(dev) ? await findMirrors(session, dev) : NONE
    if (!main) continue
    if (beside.length > 0) return restartBeside(session, dev, beside)
    if ((await askUp(world, dev, { ask: 'restart' })) === undefined) await restartOwn(session, dev, main)
    return { services: [] }
  }
  return undefined
}

const NONE: ActiveMirrors = { main: undefined, beside: [] }

async function restartBeside(
  session: Session,
  dev: string,
  mirrors: readonly KubeObject[],
): Promise<RestartedDevelopment> {
  const [done, left]: [string[], string[]] = [[], []]
  for (const mirror of mirrors) {
    const name = upRecordOf(mirror)?.original?.name ?? mirror.metadata.name
    const list = (await restartIn(session, mirror)) === 'restarted' ? done : left
    list.push(name)
  }
  if (left.length > 0) throw notRestarted(dev, left, done)
  return { services: done }
}

async function restartOwn(session: Session, dev: string, mirror: KubeObject): Promise<void> {
  const result = await restartIn(session, mirror)
  if (result === 'stopped') throw notRestarted(dev, [dev], [])
  if (result === 'restarted') return
  throw new UserError(`nothing of \`${dev}\` can be restarted from here`, {
    notes: [`\`devctl up ${dev}\` of ${upRecordOf(mirror)?.by ?? 'somebody'} runs its command`],
    hint: `run \`devctl restart ${dev}\` on that machine`,
  })
}

function notRestarted(dev: string, left: readonly string[], done: readonly string[]): UserError {
  const [were, their, programs, run] =
    left.length > 1 ? ['were', 'their', 'programs', 'do not run'] : ['was', 'its', 'program', 'does not run']
  return new UserError(`${listed(left)} ${were} not restarted, because ${their} ${programs} ${run}`, {
    notes: done.length > 0 ? [`restarted: ${listed(done)}`] : [],
    hint: `\`devctl doctor ${dev}\` collects the logs and events that say why`,
  })
}

/**
 * Restarts the program that process 1 of a mirror's container runs. Returns `holds` if process 1 only waits for
 * commands, and `stopped` if the container does not run.
 */
async function restartIn(session: Session, mirror: KubeObject): Promise<'restarted' | 'holds' | 'stopped'> {
  const container = developedContainer(mirror)
  if (holds(mirror, container)) return 'holds'
  let result: 'restarted' | 'stopped' = 'stopped'
  for (const pod of await podsOf(session, mirror))
    if (await containerRuns(session, pod, container)) {
      await restartProgram(session, pod, container, session.signal)
      result = 'restarted'
    }
  return result
}
