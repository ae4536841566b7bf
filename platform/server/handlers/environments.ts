import type { environmentRoutes } from '../../api/environments.ts'
import { toSummary } from '../live/view.ts'
import type { PlatformParts } from '../make-parts.ts'
import { PlatformError } from '../platform-error.ts'
import type { HandlersOf } from './handler.ts'

export const environmentHandlers = ({ namespaces, live }: PlatformParts): HandlersOf<typeof environmentRoutes> => ({
  'GET /namespaces/:ns/environments': async ({ params, by }) => {
    await namespaces.require(by.user, params.ns, 'see', 'this')
    const found = await live.look(by, params.ns, view => view.environments())
    return { items: found.map(toSummary) }
  },
  'GET /namespaces/:ns/environments/:env': async ({ params, by }) => {
    await namespaces.require(by.user, params.ns, 'see', 'this')
    const found = await live.look(by, params.ns, view => view.environment(params.env))
    if (!found) throw noEnvironment(params)
    return found
  },
  'GET /namespaces/:ns/environments/:env/services/:service/events': async ({ params, by, signal }) => {
    await namespaces.require(by.user, params.ns, 'see', 'this')
    const found = await live.look(by, params.ns, view => view.environment(params.env))
    if (!found) throw noEnvironment(params)
    const service = found.services.find(({ name }) => name === params.service)
    if (!service) throw new PlatformError(404, 'no-service', `\`${params.env}\` has no service \`${params.service}\``)
    return service.workload === undefined ? { items: [] } : live.events(by, params.ns, service.workload, signal)
  },
  'GET /namespaces/:ns/live': async ({ params, by, signal }) => {
    await namespaces.require(by.user, params.ns, 'see', 'this')
    // What stands against it is an answer, not the end of a stream.
    await live.look(by, params.ns, view => view.environments())
    return live.follow(by, params.ns, signal)
  },
  'GET /namespaces/:ns/logs': async ({ params, query, by, after, signal }) => {
    await namespaces.require(by.user, params.ns, 'see', 'this')
    await live.look(by, params.ns, view => view.environments())
    const { service, environment, tail = '100' } = query
    return live.logs(by, { namespace: params.ns, service, environment, tail: Number(tail), after }, signal)
  },
})

const noEnvironment = ({ ns, env }: { readonly ns: string; readonly env: string }): PlatformError =>
  new PlatformError(404, 'no-environment', `\`${ns}\` has no environment \`${env}\``, {
    hint: '`devctl deploy` makes it',
  })
