/** The state of a container, as the kubelet reports it. */
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

/** The status of a container of a Pod. */
export interface SeenContainer {
  readonly name: string
  readonly ready?: boolean
  /** False until its startup probe, if it has one, has passed. */
  readonly started?: boolean
  readonly restartCount: number
  readonly state?: SeenContainerState
  readonly lastState?: SeenContainerState
}

/** The numbers and the kind of a probe. */
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

/** The fields of a Pod that tell whether, and why, it is not ready. */
export interface SeenPod {
  readonly spec?: {
    readonly nodeName?: string
    readonly initContainers?: readonly (ProbedContainer & { readonly restartPolicy?: string })[]
    readonly containers?: readonly ProbedContainer[]
  }
  readonly status?: {
    readonly phase?: string
    /** The node on which the scheduler makes room for the Pod. */
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

/** The statuses of all containers, the init containers first. */
export const statusesOf = ({ status = {} }: SeenPod): readonly SeenContainer[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
]

/**
 * When the last attempt to run a container's program began, in milliseconds since 1970. A program that could not be
 * started has no beginning: the kubelet writes 1970, and the end is what counts.
 */
export function attemptedAt({ state, lastState }: SeenContainer): number | undefined {
  const last = state?.terminated ?? lastState?.terminated
  return Date.parse(last?.startedAt ?? '') || Date.parse(last?.finishedAt ?? '') || undefined
}

/** When the first container of a Pod started, in milliseconds since 1970; undefined: none has. */
export function firstStart(pod: SeenPod): number | undefined {
  const starts = statusesOf(pod)
    .flatMap(({ state, lastState }) => [state?.running, state?.terminated, lastState?.terminated])
    .flatMap(run => Date.parse(run?.startedAt ?? '') || [])
  return starts.length > 0 ? Math.min(...starts) : undefined
}
