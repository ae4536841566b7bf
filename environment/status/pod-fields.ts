/** State of a container, as reported by the kubelet. */
export interface SeenContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: {
    readonly exitCode: number
    readonly reason?: string
    readonly startedAt?: string | null
    readonly finishedAt?: string | null
    readonly containerID?: string
  }
}

/** Status of a container of a Pod. */
export interface SeenContainer {
  readonly name: string
  readonly ready?: boolean
  /** False until the startup probe, if one exists, has passed. */
  readonly started?: boolean
  readonly restartCount: number
  readonly state?: SeenContainerState
  readonly lastState?: SeenContainerState
}

/** Limits and kind of a probe. */
export interface SeenProbe {
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly failureThreshold?: number
  readonly exec?: unknown
}

interface ProbedContainer {
  readonly name: string
  readonly readinessProbe?: SeenProbe
  readonly startupProbe?: SeenProbe
  readonly livenessProbe?: SeenProbe
}

/** Fields of a Pod that show whether it is ready, and why not. */
export interface SeenPod {
  readonly spec?: {
    readonly nodeName?: string
    readonly initContainers?: readonly (ProbedContainer & { readonly restartPolicy?: string })[]
    readonly containers?: readonly ProbedContainer[]
  }
  readonly status?: {
    readonly phase?: string
    /** Node on which the scheduler makes room for the Pod. */
    readonly nominatedNodeName?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
      readonly lastTransitionTime?: string
    }[]
    readonly initContainerStatuses?: readonly SeenContainer[]
    readonly containerStatuses?: readonly SeenContainer[]
  }
}

/** Returns the statuses of all containers, init containers first. */
export const statusesOf = ({ status = {} }: SeenPod): readonly SeenContainer[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
]

/** Returns true for an init container that ends, such as a `pre_start` hook, as opposed to a sidecar. */
export function isInit({ spec, status = {} }: SeenPod, one: SeenContainer): boolean {
  if (!status.initContainerStatuses?.includes(one)) return false
  return spec?.initContainers?.find(({ name }) => name === one.name)?.restartPolicy !== 'Always'
}

/**
 * Returns the start of the last ended attempt to run a container's program, in milliseconds since 1970; undefined if no
 * attempt has ended. If the program could not be started, the kubelet reports 1970 as its start, so the end is used
 * instead.
 */
export function attemptedAt({ state, lastState }: SeenContainer): number | undefined {
  const last = state?.terminated ?? lastState?.terminated
  return Date.parse(last?.startedAt ?? '') || Date.parse(last?.finishedAt ?? '') || undefined
}

/** Returns the start of the first container of a Pod, in milliseconds since 1970; undefined if none has started. */
export function firstStart(pod: SeenPod): number | undefined {
  const starts = statusesOf(pod)
    .flatMap(({ state, lastState }) => [state?.running, state?.terminated, lastState?.terminated])
    .flatMap(run => Date.parse(run?.startedAt ?? '') || [])
  return starts.length > 0 ? Math.min(...starts) : undefined
}
