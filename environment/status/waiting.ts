import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isInit, type SeenContainer, type SeenPod, statusesOf } from './pod-fields.ts'
import { noNodeMessage } from './unschedulable.ts'

/** Number of restarts after which a container counts as exiting, no longer as waiting. */
const TOLERATED_RESTARTS = 2
const WAIT_PREFIX = 'wait-for-'
const HOOK = /-pre-start-\d+$/
const CREATING = new Set(['ContainerCreating', 'PodInitializing'])

/**
 * Returns true if a Pod only waits: for a node, a volume, an image or a dependency. No program in the Pod has failed,
 * so the Pod starts as soon as the wait is over.
 */
export function isWaitingPod(pod: KubeObject): boolean {
  const seen = pod as unknown as SeenPod // the server has checked its shape
  if (seen.status?.phase !== 'Pending') return false
  return statusesOf(seen).every(one => one.restartCount < TOLERATED_RESTARTS || isDependencyWait(seen, one))
}

/** Returns what a Pod waits for, such as `waits for db` or `pulls its image`; undefined if it does not wait. */
export function waitOf(pod: KubeObject): string | undefined {
  if (!isWaitingPod(pod)) return undefined
  const seen = pod as unknown as SeenPod // the server has checked its shape
  const noNode = noNodeMessage(seen)
  if (noNode !== undefined) return noNodeText(noNode)
  const { initContainerStatuses = [], containerStatuses = [], conditions = [] } = seen.status ?? {}
  const next = initContainerStatuses.find(one => !one.state?.terminated && isInit(seen, one))
  const reason = next?.state?.waiting?.reason ?? ''
  if (next && isDependencyWait(seen, next) && reason !== 'ContainerCreating')
    return `waits for ${next.name.slice(WAIT_PREFIX.length)}`
  if (next?.state?.running) return HOOK.test(next.name) ? 'runs its `pre_start` hook' : undefined
  const [first] = next ? [next] : containerStatuses.filter(({ state }) => state?.waiting)
  if (!CREATING.has(first?.state?.waiting?.reason ?? '')) return undefined
  // The kubelet mounts the volumes, creates the sandbox, and only then pulls the images.
  const sandbox = conditions.find(({ type }) => type === 'PodReadyToStartContainers')?.status
  if (sandbox === 'True') return 'pulls its image'
  return sandbox === 'False' && hasClaim(pod) ? WAITS_FOR_VOLUME : undefined
}

export const WAITS_FOR_VOLUME = 'waits for its volume'

/** Returns true for an init container that devctl has added and that waits for a dependency. */
const isDependencyWait = (pod: SeenPod, one: SeenContainer): boolean =>
  one.name.startsWith(WAIT_PREFIX) && isInit(pod, one)

function hasClaim({ spec }: KubeObject): boolean {
  const { volumes = [] } = (spec ?? {}) as {
    readonly volumes?: readonly { readonly persistentVolumeClaim?: unknown }[]
  } // a Pod's spec
  return volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)
}

const ROOM = /^insufficient |^too many pods|free ports|max volume count/i

/**
 * Describes why no node has been found, from the message of the scheduler: `0/2 nodes are available: 1 Insufficient
 * cpu, 1 Too many pods. preemption: …` becomes `no node has room: insufficient cpu, too many pods`.
 */
export function noNodeText(detail: string): string {
  if (/unbound immediate PersistentVolumeClaims/.test(detail)) return WAITS_FOR_VOLUME
  const parts = detail
    // Sentences about claims and preemption follow the list.
    .replace(/\.(?: .*)?$/s, '')
    .replace(/^\d+\/\d+ nodes are available(?:: *|$)/, '')
    .split(/, (?=\d+ )/)
    .map(part => part.replace(/^\d+ (?:node\(s\) )?/, ''))
    .filter(part => part !== '')
    .map(part => part[0]!.toLowerCase() + part.slice(1))
  if (parts.length === 0) return 'waits for a node'
  const room = parts.filter(part => ROOM.test(part))
  const others = parts.filter(part => !ROOM.test(part))
  return `no node ${room.length > 0 ? 'has room' : 'fits'}: ${[...room, ...others].join(', ')}`
}
