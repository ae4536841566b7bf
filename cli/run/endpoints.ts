import type { Context } from '../command.ts'
import type { EndpointValues } from '../commands/endpoints.ts'
import { noEndpointsText, renderEndpoints } from '../terminal/print-endpoints.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Prints the public addresses of an environment. If it has none, prints the reason on standard error. */
export async function listEndpoints(context: Context, options: EndpointValues): Promise<number> {
  const { io } = context
  return withProject(context, { ...options, var: undefined, timeout: undefined }, async (own, project, session) => {
    const { endpoints: find } = await import('../../operations/list/endpoints.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const { environment, namespace, endpoints, none } = await find(world, options, project)
    if (endpoints.length > 0 || options.output === 'json') io.stdout.write(renderEndpoints(endpoints, options.output))
    if (none) {
      const why = noEndpointsText(none, session.target.context)
      io.stderr.write(`${environment} has no endpoints in ${namespace}: ${why}\n`)
    }
    return 0
  })
}
