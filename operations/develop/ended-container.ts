import { pause } from '../../adapters/http/back-off.ts'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { containerStatus } from './mirror-pod.ts'

/** Milliseconds until the kubelet has told of a container that ended together with its processes. */
const TOLD = 2000
const LOOK_AGAIN = 200

/** The status above which a signal has ended a command, in the way of shells. */
const SIGNALLED = 128

/**
 * Tells in words if a signal has ended a command because its container ended, as one that needs more
 * memory than its limit; undefined if the command ended by itself. The kubelet tells of it some time
 * after the command's connection has ended.
 */
export async function endedContainer(
  cluster: Pick<Cluster, 'get'>,
  pod: KubeObject,
  container: string,
  status: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (status <= SIGNALLED) return undefined
  const { name, namespace } = pod.metadata
  const until = performance.now() + TOLD
  for (;;) {
    const now = await cluster.get({ apiVersion: 'v1', kind: 'Pod', name, namespace }, { signal })
    const reason = now && endOf(pod, now, container)
    if (reason !== undefined) return `container \`${container}\` has ended (${reason})`
    if (performance.now() >= until) return undefined
    await pause(LOOK_AGAIN, signal)
  }
}

/** Why the container that ran is not the one that runs now; undefined if it is. */
function endOf(before: KubeObject, now: KubeObject, container: string): string | undefined {
  const id = containerStatus(before, container)?.containerID
  const status = containerStatus(now, container)
  const ended = status?.state?.terminated ?? status?.lastState?.terminated
  if (ended && (id === undefined || ended.containerID === id)) return ended.reason ?? 'Error'
  return id !== undefined && status?.containerID !== undefined && status.containerID !== id ? 'replaced' : undefined
}
