import { pause } from '../../adapters/http/back-off.ts'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { containerStatus } from '../mirror/mirror-pod.ts'
import type { Supervisor } from '../session/supervisor.ts'
import { endOfContainer } from './ended-container.ts'

/** Delay before the log is read again, in milliseconds. The log of a container ends when the container restarts. */
const AGAIN = 500
/** Number of existing log lines that are shown when the log of a container is read for the first time. */
const LINES = 100

export interface OutputOf {
  readonly cluster: Cluster
  readonly namespace: string
  readonly container: string
}

/**
 * Passes on the output of the container's program and reports why the container has ended, until the signal is aborted.
 * Throws the signal's abort reason.
 */
export async function passOutput(
  supervisor: Supervisor,
  { cluster, namespace, container }: OutputOf,
  signal: AbortSignal,
  { line, ended }: { readonly line: (text: string) => void; readonly ended: (why: string) => void },
): Promise<never> {
  let last: string | undefined
  let told: string | undefined
  let known: KubeObject | undefined
  const read = async (pod: KubeObject) => {
    try {
      const now = await cluster.get({ apiVersion: 'v1', kind: 'Pod', ...pod.metadata }, { signal })
      return now?.metadata.uid === pod.metadata.uid ? now : undefined
    } catch {
      // A replaced Pod and a lost connection are reported elsewhere.
      signal.throwIfAborted()
      return undefined
    }
  }
  for (;;) {
    const { pod, lost } = await supervisor.untilReady(signal)
    const { name, uid } = pod.metadata
    if (!known || known.metadata.uid !== uid) known = (await read(pod)) ?? pod
    const instance = `${uid} ${containerStatus(known, container)?.containerID}`
    const options = { container, follow: true, tailLines: instance === last ? 0 : LINES }
    try {
      const either = AbortSignal.any([signal, lost])
      for await (const text of cluster.logs({ name, namespace }, { ...options, signal: either })) {
        // Skip earlier lines only after output was shown: the log of a container that has just started may not exist
        // yet.
        last = instance
        line(text)
      }
    } catch {
      // The connection was lost or the container is being replaced, so wait for the next Pod.
      signal.throwIfAborted()
    }
    await pause(AGAIN, signal)
    const now = await read(pod)
    const end = now && endOfContainer(pod, now, container)
    if (end && end.id !== told) ended(`${end.text}; it starts again`)
    told = end?.id ?? told
    known = now ?? known
  }
}
