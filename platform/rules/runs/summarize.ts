interface SummedService {
  readonly name: string
  readonly state: string
  readonly reason?: string
  readonly endpoints: readonly string[]
}

/** Reasons that say no more than the state `waiting`. */
const PLAIN: ReadonlySet<string | undefined> = new Set([undefined, 'starts', 'runs'])

/**
 * Summarizes an environment's services for a list: the number of services and of healthy ones, all addresses, and the
 * first problem. If there is no problem, the summary contains the first reason for which a service waits.
 */
export function summarize(services: readonly SummedService[]) {
  const failed = services.find(one => one.state === 'failed')
  const waiting = failed ? undefined : services.find(one => one.state === 'waiting' && !PLAIN.has(one.reason))
  return {
    services: services.length,
    ready: services.filter(isHealthy).length,
    endpoints: [...new Set(services.flatMap(({ endpoints }) => endpoints))],
    ...(failed && { problem: { service: failed.name, reason: failed.reason ?? 'failed' } }),
    ...(waiting?.reason !== undefined && { waits: { service: waiting.name, reason: waiting.reason } }),
  }
}

/** True if the service is ready, or has completed. */
export const isHealthy = ({ state }: Pick<SummedService, 'state'>): boolean => state === 'ready' || state === 'complete'
