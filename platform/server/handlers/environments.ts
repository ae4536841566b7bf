import type {
  EnvironmentDetails,
  environmentRoutes,
  RunningNamespace,
  ShownEnvironment,
  ShownService,
} from '../../api/environments.ts'
import type { RunRecord } from '../../records/run.ts'
import { openDeploys } from '../../rules/runs/open-deploys.ts'
import { settingsOf } from '../../rules/runs/service-settings.ts'
import type { Services } from '../create-services.ts'
import { PlatformError } from '../http/platform-error.ts'
import { toSummary } from '../live/view.ts'
import { eachNamespace } from '../namespaces/each-namespace.ts'
import type { HandlersOf } from './handler.ts'

export const environmentHandlers = ({
  namespaces,
  live,
  runs,
}: Pick<Services, 'namespaces' | 'live' | 'runs'>): HandlersOf<typeof environmentRoutes> => ({
  'GET /environments': async ({ query, by }) => {
    const read = async (namespace: string): Promise<RunningNamespace> => {
      const [own, found] = await Promise.all([
        runs.visible(by.user, { namespace }),
        live.look(by, namespace, view => view.environments()),
      ])
      const environments = found.map(toSummary)
      return { namespace, environments, ...deploysIn(own, environments) }
    }
    const names = [...new Set(query.namespaces.split(','))]
    const { found } = await eachNamespace(names, read)
    return { items: names.flatMap(name => found.get(name) ?? []) }
  },
  'GET /namespaces/:ns/environments': async ({ params, by }) => {
    await namespaces.require(by.user, params.ns, 'see', 'see this')
    const found = await live.look(by, params.ns, view => view.environments())
    return { items: found.map(toSummary) }
  },
  'GET /namespaces/:ns/environments/:env': async ({ params, by }) => {
    await namespaces.require(by.user, params.ns, 'see', 'see this')
    const found = await live.look(by, params.ns, view => view.environment(params.env))
    if (!found) throw noEnvironment(params)
    return found
  },
  'GET /namespaces/:ns/environments/:env/history': async ({ params, by }) => {
    await namespaces.require(by.user, params.ns, 'see', 'see this')
    const found = await live.look(by, params.ns, view => view.history(params.env))
    if (!found) throw noEnvironment(params)
    return { items: found }
  },
  'GET /namespaces/:ns/environments/:env/services/:service/events': async ({ params, by, signal }) => {
    await namespaces.require(by.user, params.ns, 'see', 'see this')
    const { workload } = serviceOf(params, await live.look(by, params.ns, view => view.environment(params.env)))
    return workload === undefined ? { items: [] } : live.events(by, params.ns, workload, signal)
  },
  'GET /namespaces/:ns/environments/:env/services/:service/settings': async ({ params, by, signal }) => {
    await namespaces.require(by.user, params.ns, 'see', 'see this')
    const { name, workload } = serviceOf(params, await live.look(by, params.ns, view => view.environment(params.env)))
    const found = workload === undefined ? undefined : await live.workload(by, params.ns, workload, signal)
    if (!found)
      throw new PlatformError(404, 'no-service', `\`${name}\` is not running`, { hint: '`devctl deploy` starts it' })
    return settingsOf(found, name)
  },
  'GET /namespaces/:ns/live': async ({ params, by, signal }) => {
    await namespaces.require(by.user, params.ns, 'see', 'see this')
    // An error is sent as a response, before the event stream begins.
    await live.look(by, params.ns, view => view.environments())
    return live.follow(by, params.ns, signal)
  },
  'GET /namespaces/:ns/logs': async ({ params, query, by, after, signal }) => {
    await namespaces.require(by.user, params.ns, 'see', 'see this')
    await live.look(by, params.ns, view => view.environments())
    const { service, environment, tail = '100' } = query
    return live.logs(by, { namespace: params.ns, service, environment, tail: Number(tail), after }, signal)
  },
})

/** Returns the active deploys by runs, and the failed deploys that no later deploy has replaced. */
function deploysIn(
  all: readonly RunRecord[],
  environments: readonly ShownEnvironment[],
): Pick<RunningNamespace, 'failedDeploys' | 'deploys'> {
  const deployed = new Map(environments.flatMap(one => (one.deployed ? [[one.name, one.deployed.at]] : [])))
  const { failed, atWork } = openDeploys(all, deployed)
  return {
    failedDeploys: failed.map(({ id, environment, created, ended = created, found, stop }) => {
      const reason = found.reason ?? stop?.reason
      return { run: id, environment, at: ended, ...(reason !== undefined && { reason }) }
    }),
    deploys: atWork.map(({ id, environment }) => ({ run: id, environment })),
  }
}

const noEnvironment = ({ ns, env }: { readonly ns: string; readonly env: string }): PlatformError =>
  new PlatformError(404, 'no-environment', `\`${ns}\` has no environment \`${env}\``, {
    hint: '`devctl deploy` creates it',
  })

/** Returns a service of an environment. Throws a PlatformError if it does not exist. */
function serviceOf(
  params: { readonly ns: string; readonly env: string; readonly service: string },
  environment: EnvironmentDetails | undefined,
): ShownService {
  if (!environment) throw noEnvironment(params)
  const found = environment.services.find(({ name }) => name === params.service)
  if (!found) throw new PlatformError(404, 'no-service', `\`${params.env}\` has no service \`${params.service}\``)
  return found
}
