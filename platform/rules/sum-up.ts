interface SummedService {
  readonly name: string
  readonly state: string
  readonly reason?: string
  readonly endpoints: readonly string[]
}

/** What a list says of the services of an environment: how many are well, where they are reached, and the first that is not. */
export function sumUp(services: readonly SummedService[]) {
  const failed = services.find(one => one.state === 'failed')
  return {
    services: services.length,
    ready: services.filter(isWell).length,
    endpoints: [...new Set(services.flatMap(({ endpoints }) => endpoints))],
    ...(failed && { problem: { service: failed.name, reason: failed.reason ?? 'failed' } }),
  }
}

/** It is ready, or has ended as it should. */
export const isWell = ({ state }: Pick<SummedService, 'state'>): boolean => state === 'ready' || state === 'complete'
