import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import type { Session } from '../../project/session.ts'
import { RESTART_WORDS } from './action-words.ts'
import { runOnce } from './run-once.ts'

/** Timeout for signaling process 1 of a container, in milliseconds. */
const TELLING = 20_000

/**
 * Restarts the program of a container of a mirror. If `run.sh` runs the program, `run.sh` restarts it at once.
 * Otherwise, the Pod is deleted, and the new Pod starts the program.
 */
export async function restartProgram(
  { cluster, access, namespace }: Session,
  pod: KubeObject,
  container: string,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = pod.metadata
  if (!isSupervised(pod, container)) {
    await cluster.delete({ apiVersion: 'v1', kind: 'Pod', name, namespace }, { uid, signal })
    return
  }
  await runOnce({ access, namespace, pod, container, command: RESTART_WORDS }, withTimeLimit(TELLING, signal))
}

interface PodContainer {
  readonly name: string
  readonly command?: readonly string[]
}

/** True if process 1 of a container of a mirror only waits and runs no program. */
export function holds(mirror: KubeObject, container: string): boolean {
  const { spec } = (mirror['spec'] as { readonly template: { readonly spec: unknown } }).template // a Deployment's
  return runsScript(spec, container, 'hold.sh')
}

/**
 * True if `run.sh` runs the program of a container. If the command of the image is unknown, the program runs without
 * `run.sh`.
 */
function isSupervised({ spec }: KubeObject, container: string): boolean {
  return runsScript(spec, container, 'run.sh')
}

function runsScript(spec: unknown, container: string, script: string): boolean {
  const { containers } = spec as { readonly containers: readonly PodContainer[] } // a Pod's
  const { command = [] } = containers.find(({ name }) => name === container) ?? {}
  return command[0] === TOOL && command.some(word => word.endsWith(`/${script}`))
}
