interface SummedService {
  readonly name: string
  readonly state: string
  readonly reason?: string
  readonly endpoints: readonly string[]
}

/** Summarizes an environment's services for a list: how many are healthy, their addresses, and the first problem. */
export function summarize(services: readonly SummedService[]) {
  const failed = services.find(one => one.state === 'failed')
  return {
    services: services.length,
    ready: services.filter(isHealthy).length,
    endpoints: [...new Set(services.flatMap(({ endpoints }) => endpoints))],
    ...(failed && { problem: { service: failed.name, reason: failed.reason ?? 'failed' } }),
  }
}

/** True if the service is ready, or has completed. */
export const isHealthy = ({ state }: Pick<SummedService, 'state'>): boolean => state === 'ready' || state === 'complete'
