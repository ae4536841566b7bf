import { pause } from '../../adapters/http/back-off.ts'
import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { valueAt } from '../../environment/record/up-record.ts'
import { containerStatus } from '../mirror/mirror-pod.ts'
import { type OneCommand, runOnce } from './run-once.ts'

/**
 * Time to wait, in milliseconds, for the kubelet to report a container that ended together with its processes:
 * `TOLD_OF_END` after signals that end containers, `TOLD` after other signals. `LOOK_AGAIN` is the polling interval.
 * The kubelet needs some seconds while many containers start or end at once.
 */
const TOLD_OF_END = 5000
const TOLD = 2000
const LOOK_AGAIN = 200

/** Offset that shells add to the signal number in the exit status of a command that was ended by a signal. */
const SIGNALLED = 128
/** Exit statuses of commands that were ended by SIGKILL and by SIGTERM. */
export const KILLED = 137
const TERMINATED = 143

/** A container of a Pod in which a command has run. */
export interface ContainerOfCommand {
  readonly cluster: Pick<Cluster, 'get'>
  /** Pod as it was when the command began. */
  readonly pod: KubeObject
  readonly container: string
}

/**
 * Returns a message if a signal ended a command because its container ended, for example because it exceeded its memory
 * limit or its Pod was evicted; undefined if the container continues. The kubelet reports the end of a container some
 * time after the command's connection has ended. `podEnd` returns other information about the end of the Pod, which may
 * be available earlier.
 */
export async function endedContainer(
  { cluster, pod, container }: ContainerOfCommand,
  status: number,
  podEnd: () => string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (status <= SIGNALLED) return undefined
  const { name, namespace } = pod.metadata
  const until = performance.now() + ([KILLED, TERMINATED].includes(status) ? TOLD_OF_END : TOLD)
  for (;;) {
    const now = await cluster.get({ apiVersion: 'v1', kind: 'Pod', name, namespace }, { signal })
    const end = now && endOfContainer(pod, now, container)
    const text = end?.text ?? podEnd()
    if (text !== undefined) return text
    if (performance.now() >= until) return undefined
    await pause(LOOK_AGAIN, signal)
  }
}

/** Timeout for reading the container's count of out-of-memory kills, in milliseconds. */
const ASKING = 3000
/** Files with the counter, such as `oom_kill 2`, in version 2 and version 1 of control groups. */
const COUNTERS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control']

/**
 * Returns a message if a command was killed for lack of memory but its container continues: on some nodes, the kernel
 * kills single processes.
 */
export async function killedForMemory(
  { access, pod, container, namespace }: Omit<OneCommand, 'command'> & { readonly pod: KubeObject },
  status: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (status !== KILLED) return undefined
  let text = ''
  const stdout = (part: Buffer) => {
    text += part.toString()
  }
  try {
    const asked = { access, pod, container, namespace, command: [TOOL, 'cat', ...COUNTERS] }
    await runOnce(asked, withTimeLimit(ASKING, signal), { stdout })
  } catch {
    signal.throwIfAborted()
  }
  return /^oom_kill [1-9]/m.test(text) ? `the command was killed: ${outOfMemory(pod, container)}` : undefined
}

/** A container that has ended, with the reason as a clause. */
export interface ContainerEnd {
  /** ID of the container that has ended; undefined if the kubelet has not reported one. */
  readonly id: string | undefined
  readonly text: string
}

/**
 * Returns the end, with the reason, of the container instance that ran in a Pod at the time of `before`; undefined if
 * `now` does not show that this instance has ended.
 */
export function endOfContainer(before: KubeObject, now: KubeObject, container: string): ContainerEnd | undefined {
  const id = containerStatus(before, container)?.containerID
  const status = containerStatus(now, container)
  const ended = status?.state?.terminated ?? status?.lastState?.terminated
  const text = (reason: string) => `container \`${container}\` has ended (${reason})`
  if (ended && (id === undefined || ended.containerID === id))
    return {
      id: ended.containerID,
      text: ended.reason === 'OOMKilled' ? outOfMemory(now, container) : text(ended.reason ?? 'Error'),
    }
  if (id === undefined || status?.containerID === undefined || status.containerID === id) return undefined
  return { id, text: text('replaced') }
}

function outOfMemory(pod: KubeObject, container: string): string {
  const containers = (valueAt(pod, ['spec', 'containers']) ?? []) as readonly Limited[] // a Pod's
  const limit = containers.find(({ name }) => name === container)?.resources?.limits?.memory
  const its = limit === undefined ? '' : `its limit is ${limit}; `
  return `container \`${container}\` ran out of memory (${its}raise \`resources.limits.memory\` of the development container)`
}

interface Limited {
  readonly name: string
  readonly resources?: { readonly limits?: { readonly memory?: string } }
}
