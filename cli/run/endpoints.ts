import type { EndpointsOutcome } from '../../operations/list/endpoints.ts'
import type { Context } from '../command.ts'
import type { LoadingValues } from '../options/project.ts'
import { renderEndpoints } from '../terminal/print-endpoints.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import type { SessionOptions } from './cluster-session.ts'
import { withProject } from './project-session.ts'

export interface EndpointValues extends LoadingValues, Omit<SessionOptions, 'timeout'> {
  readonly name: string | undefined
  readonly output: 'json' | 'md' | undefined
}

/** Prints the public addresses of an environment. When it has none, says why on standard error. */
export async function listEndpoints(context: Context, options: EndpointValues): Promise<number> {
  const { io } = context
  return withProject(context, { ...options, var: undefined, timeout: undefined }, async (own, project, session) => {
    const { endpoints: find } = await import('../../operations/list/endpoints.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const { environment, namespace, endpoints, none } = await find(world, options, project)
    if (endpoints.length > 0 || options.output === 'json')
      io.stdout.write(renderEndpoints(endpoints, options.output ?? 'text'))
    if (none) io.stderr.write(`${environment} has no endpoints in ${namespace}: ${WHY_NONE[none]}\n`)
    return 0
  })
}

const WHY_NONE: Readonly<Record<NonNullable<EndpointsOutcome['none']>, string>> = {
  'not-deployed': 'it is not deployed there',
  asleep: 'it sleeps; `devctl namespace wake` starts it',
  'no-routes':
    'its routes do not exist; `devctl deploy --domain DOMAIN` creates them as soon as a service behind them is ready',
  'not-public': 'no service has a public port (`ports: ["80:8080"]`), and there are no `endpoints`',
}
