import { on } from 'node:events'
import { setInterval } from 'node:timers/promises'
import type {
  EnvironmentDetails,
  LiveEvent,
  LogLineEvent,
  RunningNamespace,
  ShownEnvironment,
  ShownService,
} from '../../../../../platform/api/environments.ts'
import { hasEnded } from '../../../../../platform/rules/runs/run-states.ts'
import { summarize } from '../../../../../platform/rules/runs/summarize.ts'
import type { StreamEvent } from '../../../../../platform/server/handlers/handler.ts'
import { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { nextLine, sampleLog } from '../data/service-logs.ts'
import { sampleEvents, sampleHistory, sampleSettings } from '../data/services.ts'
import type { SampleCall, Samples } from '../sample.ts'
import { environmentOf, namespaceOf, type SampleTeam } from '../team.ts'
import { justNow, timesFrom } from '../times.ts'

/** Milliseconds between two lines of a log that is followed. */
const NEXT_LINE = 2_000

const toListed = ({ name, state, deployed, source, services }: EnvironmentDetails): ShownEnvironment => ({
  ...{ name, state },
  ...(deployed && { deployed }),
  ...(source && { source }),
  ...summarize(services),
})

const environmentsIn = (team: SampleTeam, ns: string): EnvironmentDetails[] => {
  namespaceOf(team, ns)
  return team.environments.get(ns) ?? []
}

/** Returns the content of a namespace. A failed deploy is listed unless it is older than the one that is shown. */
function runningIn(team: SampleTeam, namespace: string): RunningNamespace {
  const environments = environmentsIn(team, namespace).map(toListed)
  const runs = team.runs.filter(one => one.namespace === namespace && one.action === 'deploy')
  const isLast = (ended: string, name: string) =>
    ended >= (environments.find(one => one.name === name)?.deployed?.at ?? '')
  return {
    namespace,
    environments,
    failedDeploys: runs.flatMap(({ id, environment, state, ended = '', reason }) =>
      state === 'failed' && isLast(ended, environment)
        ? [{ run: id, environment, at: ended, ...(reason !== undefined && { reason }) }]
        : [],
    ),
    deploys: runs.filter(one => !hasEnded(one.state)).map(({ id, environment }) => ({ run: id, environment })),
  }
}

function serviceOf(
  team: SampleTeam,
  params: { readonly ns: string; readonly env: string; readonly service: string },
): ShownService {
  const found = environmentOf(team, params).services.find(one => one.name === params.service)
  if (!found) throw new PlatformError(404, 'no-service', `\`${params.env}\` has no service \`${params.service}\``)
  return found
}

/** Yields everything, and again after each change. */
async function* live({ team, params, signal }: SampleCall<'GET /namespaces/:ns/live'>) {
  const all = (): StreamEvent<LiveEvent> => ({
    data: { type: 'snapshot', environments: team.environments.get(params.ns) ?? [] },
  })
  yield all()
  for await (const _ of on(team.changes, 'change', { signal })) yield all()
}

const servicesOf = ({ team, params, query }: SampleCall<'GET /namespaces/:ns/logs'>): readonly ShownService[] =>
  environmentsIn(team, params.ns)
    .filter(one => query.environment === undefined || one.name === query.environment)
    .flatMap(one => one.services)
    .filter(one => query.service === undefined || one.name === query.service)

/** Yields the lines until now, and then one every few seconds. */
async function* logs(
  { signal }: Pick<SampleCall<'GET /namespaces/:ns/logs'>, 'signal'>,
  services: readonly ShownService[],
): AsyncGenerator<StreamEvent<LogLineEvent>> {
  for (const one of services) for (const data of sampleLog(timesFrom(Date.now()), one)) yield { data }
  let number = 0
  for await (const _ of setInterval(NEXT_LINE, undefined, { signal })) {
    for (const one of services) {
      const data = nextLine(one, number, justNow())
      if (data) yield { data }
    }
    number++
  }
}

/** Samples for the content of namespaces. */
export const environmentSamples = {
  'GET /environments': ({ team, query }) => ({
    items: query.namespaces
      .split(',')
      .filter(name => team.namespaces.some(one => one.name === name))
      .map(name => runningIn(team, name)),
  }),
  'GET /namespaces/:ns/environments': ({ team, params }) => ({ items: runningIn(team, params.ns).environments }),
  'GET /namespaces/:ns/environments/:env': ({ team, params }) => environmentOf(team, params),
  'GET /namespaces/:ns/environments/:env/history': ({ team, params }) => {
    environmentOf(team, params)
    return { items: sampleHistory(timesFrom(team.now), params.ns === 'shop-pr-7' ? '' : params.env) }
  },
  'GET /namespaces/:ns/environments/:env/services/:service/events': ({ team, params }) =>
    sampleEvents(timesFrom(team.now), serviceOf(team, params)),
  'GET /namespaces/:ns/environments/:env/services/:service/settings': ({ team, params }) =>
    sampleSettings(serviceOf(team, params)),
  // Refuses before the stream begins.
  'GET /namespaces/:ns/live': call => namespaceOf(call.team, call.params.ns) && live(call),
  'GET /namespaces/:ns/logs': call => logs(call, servicesOf(call)),
  'GET /search': ({ team }) => ({
    items: team.namespaces.map(({ name, members }) => ({
      namespace: name,
      environments: (team.environments.get(name) ?? []).map(one => ({
        name: one.name,
        services: one.services.map(service => service.name).sort(),
      })),
      members,
    })),
  }),
} satisfies Samples
