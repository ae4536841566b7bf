import { pause } from '../../../adapters/http/back-off.ts'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { RestingObject } from '../../records/asleep.ts'
import { ruleHosts } from './suspend-rules.ts'

/** Timeout for an ingress controller to apply a class, and the interval between two checks, in milliseconds. */
const FOLLOWS = 10_000
const LOOK = 300
/** Number of checks without a response after which the result is unknown. */
const SILENT = 3

type RestingRoute = Extract<RestingObject, { kind: 'Ingress' }>

/** A sleeping route and one of its hosts. */
export interface SuspendedRoute {
  readonly one: RestingRoute
  readonly host: string
}

/**
 * Returns a host of an Ingress that can be checked, which is a host below the platform's domain; undefined if there is
 * none.
 */
export const hostOf = (ingress: KubeObject, domain: string): string | undefined =>
  ruleHosts(ingress).find(host => host.endsWith(`.${domain}`))

/**
 * Returns the sleeping routes whose ingress controller ignores the changed class and still serves them. Only one route
 * of each class is checked.
 */
export async function findIgnoredIngressClasses(
  routes: readonly SuspendedRoute[],
  leadsHere: (host: string, signal: AbortSignal) => Promise<boolean | undefined>,
  signal: AbortSignal,
): Promise<readonly RestingRoute[]> {
  const byClass = new Map(routes.map(route => [classOf(route.one), route.host]))
  const found = await Promise.all(
    [...byClass].map(async ([name, host]) => ((await isFollowed(host)) ? undefined : name)),
  )
  return routes.map(({ one }) => one).filter(one => found.includes(classOf(one)))

  async function isFollowed(host: string): Promise<boolean> {
    const end = Date.now() + FOLLOWS
    for (let silent = 0; ; ) {
      const leads = await leadsHere(host, signal)
      if (leads || signal.aborted) return true
      // This server itself may be unable to reach the ingress controller if no response comes.
      if (leads === undefined && ++silent >= SILENT) return true
      if (Date.now() > end) return false
      await pause(LOOK, signal)
    }
  }
}

const classOf = ({ class: name = '', annotation = '' }: RestingRoute): string => `${name} ${annotation}`
