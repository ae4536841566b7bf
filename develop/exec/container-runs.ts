import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { KubeconfigAccess } from '../../adapters/kubernetes/connection.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { mayRun, runs } from '../mirror/mirror-pod.ts'
import { runOnce } from './run-once.ts'

/** Timeout for an answer from a container, in milliseconds. */
const ANSWER = 5_000

/** Access to the cluster for querying a container. */
export interface ContainerQuery {
  readonly access: KubeconfigAccess
  readonly namespace: string
  readonly signal: AbortSignal
}

/**
 * Returns true if a container of a mirror is running. The kubelet reports a started container about a second late, so
 * this function runs a command in the container if the reported state is unclear.
 */
export const containerRuns = async (query: ContainerQuery, pod: KubeObject, container: string): Promise<boolean> =>
  runs(pod, container) || (mayRun(pod, container) && (await containerAnswers(query, pod, container)))

/** True if a command can be run in the container now. */
export async function containerAnswers(
  { access, namespace, signal }: ContainerQuery,
  pod: KubeObject,
  container: string,
): Promise<boolean> {
  const command = [TOOL, 'true']
  try {
    return (await runOnce({ access, namespace, pod, container, command }, withTimeLimit(ANSWER, signal))) === 0
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ClusterError || error instanceof DOMException) return false
    throw error
  }
}
