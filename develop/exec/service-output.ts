import { pause } from '../../adapters/http/back-off.ts'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Supervisor } from '../session/supervisor.ts'
import { endOfContainer } from './ended-container.ts'

/** Milliseconds before the log is read again after it has ended: the container starts again. */
const AGAIN = 500
/** Lines of a log that are shown from before. */
const LINES = 100

export interface OutputOf {
  readonly cluster: Cluster
  readonly namespace: string
  readonly container: string
}

/**
 * Passes on what the program of the container prints, and says why the container has ended, until the
 * signal is aborted, whose reason it throws.
 */
export async function passOutput(
  supervisor: Supervisor,
  { cluster, namespace, container }: OutputOf,
  signal: AbortSignal,
  { line, ended }: { readonly line: (text: string) => void; readonly ended: (why: string) => void },
): Promise<never> {
  let last: string | undefined
  let told: string | undefined
  const endOf = async (pod: KubeObject) => {
    try {
      const now = await cluster.get({ apiVersion: 'v1', kind: 'Pod', ...pod.metadata }, { signal })
      return now && now.metadata.uid === pod.metadata.uid ? endOfContainer(pod, now, container) : undefined
    } catch {
      // A replaced Pod, or a lost connection, is reported elsewhere.
      signal.throwIfAborted()
      return undefined
    }
  }
  for (;;) {
    const { pod, lost } = await supervisor.untilReady(signal)
    const { name, uid } = pod.metadata
    const options = { container, follow: true, tailLines: uid === last ? 0 : LINES }
    try {
      const either = AbortSignal.any([signal, lost])
      for await (const text of cluster.logs({ name, namespace }, { ...options, signal: either })) {
        // Only what was shown is not shown again: the log of a container that has just begun may not be there yet.
        last = uid
        line(text)
      }
    } catch {
      // The connection was lost, or the container is being replaced: the next Pod is waited for.
      signal.throwIfAborted()
    }
    await pause(AGAIN, signal)
    const end = await endOf(pod)
    if (end && end.id !== told) ended(`${end.text}; it starts again`)
    told = end?.id ?? told
  }
}
