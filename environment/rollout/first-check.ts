import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** Fields of a container that are used here. */
interface Container {
  readonly name: string
  readonly readinessProbe?: { readonly initialDelaySeconds?: number }
}
interface PodSpec {
  readonly containers?: readonly Container[]
}
interface Pod {
  readonly spec?: PodSpec
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly name: string
      readonly ready?: boolean
      readonly state?: { readonly running?: { readonly startedAt?: string } }
    }[]
  }
}

const delayOf = ({ readinessProbe }: Container): number => 1000 * (readinessProbe?.initialDelaySeconds ?? 0)

/**
 * Returns the delay in milliseconds between the start of a workload's Pod and its first check:
 * `healthcheck.start_period`.
 */
export function firstCheckDelay({ spec }: KubeObject): number {
  const { template } = (spec ?? {}) as { readonly template?: { readonly spec?: PodSpec } } // a workload's spec
  return Math.max(0, ...(template?.spec?.containers ?? []).map(delayOf))
}

/**
 * Returns the milliseconds until the first check of every container of a Pod has begun; 0 if none is outstanding.
 * Containers that have not started do not count.
 */
export function untilFirstCheck(pod: KubeObject, now: number): number {
  const { spec, status } = pod as unknown as Pod // the server has checked its shape
  const rests = (spec?.containers ?? []).map(container => {
    const one = status?.containerStatuses?.find(({ name }) => name === container.name)
    const startedAt = one?.ready ? undefined : one?.state?.running?.startedAt
    return startedAt === undefined ? 0 : Date.parse(startedAt) + delayOf(container) - now
  })
  return Math.max(0, ...rests)
}
