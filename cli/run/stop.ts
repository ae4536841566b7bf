import type { Context } from '../command.ts'
import type { StopValues } from '../commands/stop.ts'
import { printSummary, printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Stops or starts the named services, or all services. */
export async function stopServices(
  context: Context,
  services: readonly string[],
  options: StopValues,
  verb: 'stop' | 'start',
): Promise<number> {
  return withProject(context, { ...options, var: undefined }, async (own, project, session) => {
    const { io, logLevel } = own
    const operations = await import('../../operations/scale/stop.ts')
    const world = { workspace: io, session, on: printsDiagnostics(own) }
    const outcome = await operations[verb](world, { ...options, services }, project)
    const { environment, namespace, changed, unchanged, skipped } = outcome
    const print = (text: string) => printSummary(text, io, logLevel)
    if (skipped.length > 0) print(`left ${skipped.join(', ')} alone: ${verb} has no meaning for Jobs and DaemonSets`)
    const already = verb === 'stop' ? 'stopped already' : 'not stopped'
    if (unchanged.length > 0) print(`${unchanged.join(', ')} ${isOrAre(unchanged)} ${already}`)
    if (changed.length === 0) return 0
    const text = `${changed.join(', ')} of ${environment} ${isOrAre(changed)}`
    print(
      verb === 'stop'
        ? `${text} stopped in ${namespace}; \`devctl start\` or the next deploy starts ${changed.length === 1 ? 'it' : 'them'} again`
        : `${text} started in ${namespace}; \`devctl wait\` waits until ${changed.length === 1 ? 'it is' : 'they are'} ready`,
    )
    return 0
  })
}

const isOrAre = (names: readonly string[]): string => (names.length === 1 ? 'is' : 'are')
