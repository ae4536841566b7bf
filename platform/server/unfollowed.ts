import { pause } from '../../adapters/http/back-off.ts'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { RestingObject } from '../records/asleep.ts'

/** Milliseconds that an ingress controller may take to follow a class, and between two looks. */
const FOLLOWS = 10_000
const LOOK = 300
/** Looks without an answer after which nothing can be said. */
const SILENT = 3

type RestingRoute = Extract<RestingObject, { kind: 'Ingress' }>

/** A route that was put to rest, and a host of it. */
export interface RestedRoute {
  readonly one: RestingRoute
  readonly host: string
}

/** The host of an Ingress by which it can be asked, if it has one below the domain. */
export const hostOf = ({ spec }: KubeObject, domain: string): string | undefined => {
  const { rules } = (spec ?? {}) as { readonly rules?: readonly { readonly host?: unknown }[] } // an Ingress's
  const hosts = (rules ?? []).flatMap(({ host }) => (typeof host === 'string' ? host : []))
  return hosts.find(host => host.endsWith(`.${domain}`) && /^[a-z0-9.-]+$/.test(host))
}

/**
 * Of routes that rest, those that their ingress controller goes on to serve by itself, whatever their class says. One
 * of each class is asked.
 */
export async function unfollowed(
  routes: readonly RestedRoute[],
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
      // Where nobody answers, it may be this server that does not reach the ingress controller.
      if (leads === undefined && ++silent >= SILENT) return true
      if (Date.now() > end) return false
      await pause(LOOK, signal)
    }
  }
}

const classOf = ({ class: name = '', annotation = '' }: RestingRoute): string => `${name} ${annotation}`
