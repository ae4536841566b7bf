import { parseJson } from '../../adapters/json/parse-json.ts'
import { serviceNames } from '../../compiler/plan/object-names.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { entry, get, isScalar, type Tree } from '../../compiler/text/tree.ts'
import { addressesOf } from '../endpoints/routes.ts'
import { type DesiredState, serviceOf } from '../plan/desired-state.ts'
import { HINT_KEYS } from '../status/hints.ts'
import { application } from './record-texts.validators.ts'

/** Deployed service, without values of variables or secrets. */
export interface DeployedService {
  /** Service name in Kubernetes form. */
  readonly service: string
  readonly kind: string
  readonly image?: string
  readonly needs: readonly { readonly service: string; readonly condition: string }[]
  /** Public URLs of the service. */
  readonly endpoints: readonly string[]
  /**
   * Path of the file that contains the service, relative to the top of the repository; absent for a file outside the
   * repository.
   */
  readonly file?: string
  readonly line?: number
  /**
   * Places at which problems are shown: the line of each key, by the path of the key. The value of a key that sets a
   * size or a policy, such as `deploy.resources.limits.memory`, is included.
   */
  readonly keys: Readonly<Record<string, { readonly line: number; readonly value?: string }>>
}

/** Deployed application, with enough detail to draw it. */
export interface DeployedApplication {
  readonly services: readonly DeployedService[]
}

/**
 * Maximum length of the text in characters. For a larger application, the record contains the services without the
 * lines of their keys, or no services.
 */
const MOST = 128 * 1024
/** Keys whose values are only sizes, numbers or policies, and so never secret. */
const PLAIN = /(?:^|[._])(?:memory|mem_\w+|cpus?|restart|pull_policy|condition)$/

/** Input that the application is read from. */
interface Read {
  readonly plan: Plan
  readonly wanted: DesiredState
  /** Services of the Compose file. */
  readonly services: Tree | undefined
  /** Returns the path of a file relative to the top of its repository; undefined for a file outside the repository. */
  readonly shownFile: (location: string) => string | undefined
}

/**
 * Returns the description of the application as text for the record. After a partial deploy, `before` supplies the
 * other services. Undefined if the text is too long.
 */
export function applicationText(read: Read, before?: DeployedApplication): string | undefined {
  const own = deployedServices(read)
  const names = new Set(own.map(({ service }) => service))
  const all = [...own, ...(before?.services.filter(({ service }) => !names.has(service)) ?? [])]
  const text = JSON.stringify({ services: all })
  if (text.length <= MOST) return text
  const short = JSON.stringify({ services: all.map(({ keys: _, ...service }) => service) })
  return short.length <= MOST ? short : undefined
}

/**
 * Reads the application of a record. Members of the namespace can write anything into the record, so an unreadable text
 * yields no application, and unknown properties are dropped.
 */
export function readApplication(text: string | undefined): DeployedApplication | undefined {
  if (text === undefined || text.length > 2 * MOST) return undefined
  const read = parseJson(text, application)
  if (!read.ok) return undefined
  return {
    services: read.value.services.map(
      ({ service, kind, image, needs = [], endpoints = [], file, line, keys = {} }) => ({
        service,
        kind,
        ...(image !== undefined && { image }),
        needs: needs.map(one => ({ service: one.service, condition: one.condition })),
        endpoints,
        ...(file !== undefined && { file }),
        ...(line !== undefined && { line }),
        keys: Object.fromEntries(
          Object.entries(keys).map(([path, one]) => [
            path,
            { line: one.line, ...(one.value !== undefined && { value: one.value }) },
          ]),
        ),
      }),
    ),
  }
}

function deployedServices({ plan, wanted, services, shownFile }: Read): readonly DeployedService[] {
  const urls = endpointsByService(wanted)
  const isWanted = new Set(wanted.workloads.map(({ service }) => service))
  const names = services?.kind === 'map' ? [...services.entries.keys()] : []
  const written = new Map([...serviceNames(names)].map(([name, label]) => [label, name]))
  return plan.workloads
    .filter(({ service }) => isWanted.has(service))
    .flatMap(workload => {
      const { service: lead, pod, dependencies = [] } = workload
      const kind = workload.kind === 'Job' && workload.cronJobs ? 'CronJob' : workload.kind
      return pod.services.map(service => {
        const image = [...pod.containers, ...pod.init].find(({ name }) => name === service)?.image
        const name = names.includes(service) ? service : (written.get(service) ?? service)
        const span = entry(services, name)?.key
        const file = span && shownFile(span.file.location)
        return {
          service,
          kind,
          ...(image !== undefined && { image }),
          needs: service === lead ? dependencies.map(one => ({ service: one.service, condition: one.condition })) : [],
          endpoints: [...new Set(urls.get(service) ?? [])],
          ...(span && file !== undefined && { file, line: span.file.position(span.start).line }),
          // Only keys in the same file as the service: a line alone would mislead for another file.
          keys: span && file !== undefined ? keysOf(get(services, name), span.file.location) : {},
        }
      })
    })
}

function keysOf(service: Tree | undefined, location: string): DeployedService['keys'] {
  const found = [...HINT_KEYS].flatMap(path => {
    const keys = path.split('.')
    const one = entry(get(service, ...keys.slice(0, -1)), keys.at(-1)!)
    if (!one || one.key.file.location !== location) return []
    const { file, start } = one.key
    const value = isScalar(one.value) && PLAIN.test(path) ? `${one.value.value}` : undefined
    return [[path, { line: file.position(start).line, ...(value !== undefined && { value }) }] as const]
  })
  return Object.fromEntries(found)
}

/** Returns the URLs of the wanted routes, by the service behind them. */
function endpointsByService({ before, after }: DesiredState): ReadonlyMap<string, readonly string[]> {
  const owners = new Map(
    before.flatMap(({ object }) =>
      object.kind === 'Service' ? [[object.metadata.name, serviceOf(object) ?? object.metadata.name] as const] : [],
    ),
  )
  const urls = new Map<string, string[]>()
  for (const { object } of after)
    for (const { url, services } of addressesOf(object, new Map()))
      for (const name of services) {
        const service = owners.get(name) ?? name
        urls.set(service, [...(urls.get(service) ?? []), url])
      }
  return urls
}
