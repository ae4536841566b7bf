import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts'
import { isRoute, isWorkload } from '../../../constructs/kinds.ts'
import { addressesOf } from '../../../environment/endpoints/routes.ts'
import type { DeployedService } from '../../../environment/record/deployed-application.ts'
import { inSleep, listServices, type ObservedService } from '../../../environment/status/service-status.ts'
import type {
  EnvironmentDetails,
  ServiceProblem,
  ShownEnvironment,
  ShownJob,
  ShownService,
} from '../../api/environments.ts'
import { isHealthy, summarize } from '../../rules/runs/summarize.ts'
import type { DeployRecordView } from './notes.ts'
import type { ObjectCache, SceneEnvironment } from './object-cache.ts'

/** Maximum number of services that are sent for one environment. */
const MOST_SERVICES = 500
/** Maximum number of notes of a problem, and maximum length of a note, and of a message or hint, in characters. */
const MOST_NOTES = 60
const LONGEST_NOTE = 1000
const LONGEST = 2000

/** Returns the services that run in an environment now. */
export function seenIn(
  { objects }: SceneEnvironment,
  { warnings, gateways }: ObjectCache,
  { now, isAsleep }: { readonly now: number; readonly isAsleep: boolean },
): readonly ObservedService[] {
  let workloads = 0
  const all = [...objects.values()].filter(one => !isWorkload(one) || workloads++ < MOST_SERVICES)
  const urls = all.filter(isRoute).flatMap(route => addressesOf(route, gateways))
  const services = listServices({ objects: all, warnings, urls, now })
  return isAsleep ? services.map(one => ({ ...one, overview: inSleep(one.overview) })) : services
}

/** An environment as its last deploy recorded it, and as it runs. */
export interface ObservedEnvironment {
  readonly noted: DeployRecordView
  readonly seen: readonly ObservedService[]
  readonly jobs: readonly ShownJob[]
  /** True if the environment has more objects than are watched. */
  readonly isCut: boolean
}

/**
 * Converts an environment to the form that pages show. `problemsOf` returns the reasons, as far as explained, why a
 * service is not ready.
 */
export function toDetails(
  namespace: string,
  { name }: Pick<SceneEnvironment, 'name'>,
  { noted, seen, jobs, isCut }: ObservedEnvironment,
  problemsOf: (service: ObservedService) => readonly ServiceProblem[],
): EnvironmentDetails {
  const running = new Map(seen.map(one => [one.overview.service, one]))
  // A job has no Pods between its runs, so it is not a missing service.
  const lasting = noted.services.filter(({ kind }) => kind !== 'CronJob')
  const deployed = new Map(lasting.map(one => [one.service, one]))
  // Services are in start order. Services without a deploy record come last.
  const names = [...new Set([...inOrder(deployed), ...running.keys()])].slice(0, MOST_SERVICES)
  const services = names.map(service => {
    const one = running.get(service)
    return toService(service, one, deployed.get(service), one ? problemsOf(one) : [])
  })
  const { deployed: last, source } = noted
  return {
    name,
    namespace,
    state: stateOf(services, jobs),
    ...(last && { deployed: last }),
    ...(source && { source }),
    services,
    ...(jobs.length > 0 && { jobs: [...jobs] }),
    ...(isCut && { isCut }),
  }
}

/** Returns the summary of an environment for a list. */
export function toSummary({ name, state, deployed, source, services }: EnvironmentDetails): ShownEnvironment {
  return { name, state, ...(deployed && { deployed }), ...(source && { source }), ...summarize(services) }
}

/**
 * Returns the names of services, dependencies first. The record may contain cycles, because clients other than the
 * compiler can write it, too.
 */
function inOrder(deployed: ReadonlyMap<string, DeployedService>): readonly string[] {
  const ordered = new Set<string>()
  const seen = new Set<string>()
  const visit = (name: string, depth: number): void => {
    const service = deployed.get(name)
    if (!service || seen.has(name) || depth > MOST_SERVICES) return
    seen.add(name)
    for (const need of service.needs) visit(need.service, depth + 1)
    ordered.add(name)
  }
  for (const name of [...deployed.keys()].sort()) visit(name, 0)
  return [...ordered]
}

/** Returns the state of an environment. A job that has failed does not change the state of its environment. */
function stateOf(services: readonly ShownService[], jobs: readonly ShownJob[]): string {
  if (services.length === 0 && jobs.length > 0) return 'ready'
  if (services.every(({ state }) => state === 'missing')) return 'empty'
  const has = (state: string) => services.some(one => one.state === state)
  if (has('failed')) return 'failed'
  const active = services.filter(({ state }) => state !== 'stopped' && state !== 'asleep')
  if (!active.every(isHealthy)) return 'waiting'
  // Succeeded Jobs and DaemonSets do not sleep, so one sleeping service is enough.
  if (has('asleep')) return 'asleep'
  return active.length > 0 ? 'ready' : 'stopped'
}

function toService(
  name: string,
  seen: ObservedService | undefined,
  deployed: DeployedService | undefined,
  problems: readonly ServiceProblem[],
): ShownService {
  const noted = {
    dependsOn: (deployed?.needs ?? []).map(({ service, condition }) => ({ service, condition })),
    ...(deployed?.file !== undefined &&
      deployed.line !== undefined && { place: { file: deployed.file, line: deployed.line } }),
  }
  if (!seen)
    return {
      name,
      state: 'missing',
      ...(deployed && { kind: deployed.kind }),
      ...(deployed?.image !== undefined && { image: deployed.image }),
      ready: 0,
      wanted: 0,
      restarts: 0,
      endpoints: [],
      exposed: [],
      internal: [],
      ...noted,
      problems: [],
    }
  const { overview } = seen
  const { state, reason, kind, workload, ready, wanted, restarts, since, image, development } = overview
  return {
    name,
    state,
    ...(reason !== undefined && { reason: cut(reason) }),
    kind,
    workload,
    ready,
    wanted,
    restarts,
    ...(since !== undefined && { since }),
    ...(image !== undefined && { image }),
    endpoints: overview.addresses.filter(isWebAddress),
    exposed: [...overview.exposed],
    internal: [...overview.internal],
    ...(development !== undefined && { development }),
    ...noted,
    problems: [...problems],
  }
}

/** Returns true if an address can be shown as a link. */
const isWebAddress = (url: string): boolean => /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')

/** Converts a diagnostic of a deploy to the form that clients receive. */
export function toProblem({ code, message, hint, notes = [], span }: Diagnostic): ServiceProblem {
  return {
    code,
    message: cut(message),
    ...(hint !== undefined && { hint: cut(hint) }),
    notes: notes.slice(0, MOST_NOTES).map(one => cut(one, LONGEST_NOTE)),
    ...(span && { place: { file: span.file.path, line: span.file.position(span.start).line } }),
  }
}

const cut = (text: string, longest = LONGEST): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)
