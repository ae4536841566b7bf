import { requireNamespace } from '../operations/namespaces.ts'
import { findEnvironment, type KnownEnvironment } from '../operations/project/known-environment.ts'
import { type SessionOptions, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import { renderEndpoints } from './print-endpoints.ts'
import type { LoadingValues } from './project-options.ts'
import { printsDiagnostics } from './report.ts'

export interface EndpointValues extends LoadingValues, Omit<SessionOptions, 'timeout'> {
  readonly name: string | undefined
  readonly output: 'json' | 'md' | undefined
}

/** Prints the public addresses of an environment. When it has none, says why on standard error. */
export async function listEndpoints(context: Context, options: EndpointValues): Promise<number> {
  const { io } = context
  const environment = await findEnvironment({ workspace: context.io, on: printsDiagnostics(context) }, options)
  return withCluster(
    io,
    { ...options, ...environment.target, logLevel: context.logLevel, timeout: undefined },
    async session => {
      const { cluster, namespace, signal } = session
      const [{ findEndpoints }, { withAnswers }, { askAddress }] = await Promise.all([
        import('../environment/endpoints/endpoints.ts'),
        import('../environment/endpoints/asked.ts'),
        import('../cluster/ask-address.ts'),
      ])
      const { name } = environment
      const found = await findEndpoints(cluster, { environment: name, namespace }, [], { signal })
      const endpoints = await withAnswers(found, (url, entry) => askAddress(url, { entry, signal }))
      if (endpoints.length === 0) await requireNamespace(session)
      if (endpoints.length > 0 || options.output === 'json')
        io.stdout.write(renderEndpoints(endpoints, options.output ?? 'text'))
      if (endpoints.length > 0) return 0
      const { readRecord } = await import('../environment/record.ts')
      const isDeployed = (await readRecord(cluster, name, namespace, { signal })) !== undefined
      io.stderr.write(`${name} has no endpoints in ${namespace}: ${whyNone(environment, isDeployed)}\n`)
      return 0
    },
  )
}

function whyNone({ plan }: KnownEnvironment, isDeployed: boolean): string {
  if (!isDeployed) return 'it is not deployed there'
  return plan && plan.routes.length > 0
    ? 'its routes are not there; `devctl deploy --domain DOMAIN` makes them as soon as a service behind them is ready'
    : 'no service has a public port (`ports: ["80:8080"]`), and there are no `endpoints`'
}
