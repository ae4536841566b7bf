import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { RUNS_NAMESPACE } from '../../records/names.ts'
import { type RunEnd, runName } from '../../records/run.ts'
import { CLONE, RUN } from './run-objects.ts'

/** Returns the Pod of a run; undefined before it starts, and after the run is completed. */
export async function podOf(cluster: Cluster, id: string, signal: AbortSignal): Promise<KubeObject | undefined> {
  const labels = `batch.kubernetes.io/job-name=${runName(id)}`
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE, labels }, { signal })
  return pods[0]
}

export interface ContainerState {
  readonly phase: 'waiting' | 'running' | 'ended'
  /** Exit code and termination message of a container that has ended. */
  readonly exitCode?: number
  readonly message?: string
  /** True if the container was ended because it exceeded its memory limit. */
  readonly isOutOfMemory?: true
  /** RFC 3339 time at which the container ended. */
  readonly ended?: string
}

/** Returns the state of a container in a Pod. */
export function containerState(pod: KubeObject, name: string): ContainerState {
  type Ended = {
    readonly message?: unknown
    readonly reason?: unknown
    readonly exitCode?: unknown
    readonly finishedAt?: unknown
  }
  type State = Readonly<Record<string, Ended | undefined>>
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly initContainerStatuses?: readonly { readonly name: string; readonly state?: State }[]
    readonly containerStatuses?: readonly { readonly name: string; readonly state?: State }[]
  } // the API server's
  const state = [...initContainerStatuses, ...containerStatuses].find(one => one.name === name)?.state
  if (state?.['terminated']) {
    const { message, reason, exitCode, finishedAt } = state['terminated']
    return {
      phase: 'ended',
      ...(typeof exitCode === 'number' && { exitCode }),
      ...(typeof message === 'string' && { message }),
      ...(reason === 'OOMKilled' && { isOutOfMemory: true as const }),
      ...(typeof finishedAt === 'string' && { ended: finishedAt }),
    }
  }
  return { phase: state?.['running'] ? 'running' : 'waiting' }
}

/** Returns true if all containers of a Pod have ended. */
export const isOver = (pod: KubeObject): boolean =>
  ['Succeeded', 'Failed'].includes(String((pod['status'] as { readonly phase?: string } | undefined)?.phase))

/**
 * Returns the result of a run as soon as its Pod shows the result; undefined until then. Kubernetes takes a second or
 * two to mark the Pod, and after it the Job, as ended.
 */
export function endOf(pod: KubeObject): RunEnd['state'] | undefined {
  if (isOver(pod)) return (pod['status'] as { readonly phase: string }).phase === 'Succeeded' ? 'succeeded' : 'failed'
  // The reason of a failure is only known when the Pod has ended.
  return containerState(pod, RUN).exitCode === 0 ? 'succeeded' : undefined
}

/** Returns true if the spec of a Pod contains a container with this name. */
export function hasContainer({ spec }: KubeObject, name: string): boolean {
  type Named = readonly { readonly name: string }[]
  const { initContainers = [], containers = [] } = (spec ?? {}) as {
    readonly initContainers?: Named
    readonly containers?: Named
  } // the API server's
  return [...initContainers, ...containers].some(one => one.name === name)
}

/**
 * Returns the commit that was cloned, from the termination message of the clone container; undefined if no commit was
 * cloned yet.
 */
export function commitOf(pod: KubeObject): string | undefined {
  const { commit } = lastWords(pod)
  return typeof commit === 'string' ? commit : undefined
}

/** Returns a short reason why a Pod failed; undefined for errors of the command itself, which are in its log. */
export function reasonOf(pod: KubeObject): string | undefined {
  const { reason, message = '' } = (pod['status'] ?? {}) as { readonly reason?: string; readonly message?: string }
  if (reason === 'DeadlineExceeded') return 'it took longer than the time limit of runs'
  // Kubernetes gives the same reason for a node without resources and for a Pod that exceeds its own limits.
  if (reason === 'Evicted')
    return /exceed/i.test(message)
      ? `it needed more than a run may have: ${message.trim().slice(0, 300)}`
      : 'its node ran out of resources'
  const { exitCode = 0 } = containerState(pod, CLONE)
  if ([CLONE, RUN].some(name => containerState(pod, name).isOutOfMemory)) return 'it needed more memory than runs have'
  if (exitCode === 0) return undefined
  const { error } = lastWords(pod)
  return typeof error === 'string' ? error.slice(0, 500) : 'the repository could not be cloned'
}

/** Parses the termination message of the clone container. */
function lastWords(pod: KubeObject): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(containerState(pod, CLONE).message ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
