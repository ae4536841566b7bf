import { readdirSync, readFileSync } from 'node:fs'
import type { Cluster } from '../../support/cluster/cluster.ts'

interface Statuses {
  readonly status: Readonly<
    Record<
      'initContainerStatuses' | 'containerStatuses',
      readonly { readonly name: string; readonly containerID?: string }[]
    >
  >
}

/**
 * Ends the first process of a container with SIGKILL. If the node is this machine, the kernel does it; elsewhere the
 * process can only be asked to end: nothing inside a container kills its first process.
 */
export async function killContainer(
  cluster: Cluster,
  namespace: string,
  pod: string,
  container: string,
): Promise<void> {
  const { status } = await cluster.get<Statuses>(`/api/v1/namespaces/${namespace}/pods/${pod}`)
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const id = all.find(one => one.name === container)?.containerID?.replace(/^.*:\/\//, '')
  if (!id) throw new Error(`${pod} has no running container ${container}`)
  const own = processesOf(id)
  if (own.length > 0) process.kill(Math.min(...own), 'SIGKILL')
  else await cluster.kubectl('--namespace', namespace, 'exec', pod, '--container', container, '--', 'kill', '1')
}

/** Returns the processes of this machine that belong to a container. */
function processesOf(id: string): readonly number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && groupsOf(name).includes(id))
    .map(Number)
}

function groupsOf(process: string): string {
  try {
    return readFileSync(`/proc/${process}/cgroup`, 'utf8')
  } catch {
    return '' // It has ended.
  }
}
