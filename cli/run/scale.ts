import type { Context } from '../command.ts'
import type { ScaleValues } from '../commands/scale.ts'
import { printSummary, printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Sets the number of replicas of services (`web=3`) until the next deploy. */
export async function scaleServices(context: Context, words: readonly string[], options: ScaleValues): Promise<number> {
  const [{ parseScales }, { scale }] = await Promise.all([
    import('../../operations/scale/parse-scales.ts'),
    import('../../operations/scale/scale.ts'),
  ])
  const replicas = parseScales(words, 'devctl scale')
  return withProject(context, { ...options, var: undefined }, async (own, project, session) => {
    const { io, logLevel } = own
    const world = { workspace: io, session, on: printsDiagnostics(own) }
    const { environment, namespace, scaled } = await scale(world, { ...options, replicas }, project)
    for (const { service, before, after } of scaled)
      printSummary(
        before === after
          ? `${service} already has ${countText(after)}`
          : `${service} gets ${countText(after)}, after ${before}`,
        io,
        logLevel,
      )
    if (scaled.some(({ before, after }) => before !== after))
      printSummary(
        `the next deploy of ${environment} in ${namespace} sets the numbers of the files again; to keep these, set \`scale\` in the Compose file`,
        io,
        logLevel,
      )
    return 0
  })
}

const countText = (count: number): string => (count === 1 ? '1 replica' : `${count} replicas`)
