import type { KubeObject } from '../cluster/cluster.ts'

/** Why a Pod does not start, or does not stay. */
export interface PodProblem {
  readonly code: 'image-pull' | 'crash-loop' | 'configuration' | 'unschedulable'
  readonly pod: string
  readonly container: string | undefined
  /** In the cluster's words. */
  readonly detail: string
  /** How often the container ended, and with what. */
  readonly ends?: { readonly count: number; readonly exitCode: number; readonly reason?: string }
}

interface ContainerStatus {
  readonly name: string
  readonly restartCount: number
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}
interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: object
  readonly terminated?: { readonly exitCode: number; readonly reason?: string }
}
interface PodStatus {
  readonly phase?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason?: string
    readonly message?: string
  }[]
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
}

/** `ErrImagePull` comes first, with the registry's own words; the back-off that follows says less. */
const IMAGE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
])
const CONFIGURATION = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'])

/** Restarts after which a container that ends counts as one that cannot work: the first may come from a dependency that is still starting. */
const PATIENCE = 2

/** What keeps a Pod from running; none for one that is well, or ending. */
export function problemsOf(pod: KubeObject): readonly PodProblem[] {
  if (pod.metadata.deletionTimestamp !== undefined) return []
  const status = (pod['status'] ?? {}) as PodStatus // a Pod's status
  const found: PodProblem[] = []
  const base = { pod: pod.metadata.name }
  for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const { reason = '', message = '' } = one.state?.waiting ?? {}
    const detail = message || reason
    if (IMAGE.has(reason)) found.push({ ...base, code: 'image-pull', container: one.name, detail })
    else if (CONFIGURATION.has(reason)) found.push({ ...base, code: 'configuration', container: one.name, detail })
    else if (one.restartCount >= PATIENCE && (reason === 'CrashLoopBackOff' || one.state?.terminated)) {
      const last = one.state?.terminated ?? one.lastState?.terminated
      const ends = {
        count: one.restartCount + 1,
        exitCode: last?.exitCode ?? 0,
        ...(last?.reason && { reason: last.reason }),
      }
      found.push({ ...base, code: 'crash-loop', container: one.name, detail, ends })
    }
  }
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable')
    found.push({ ...base, code: 'unschedulable', container: undefined, detail: scheduled.message ?? '' })
  return found
}

/** Whether a container of the Pod has started, or the Pod has done its work. */
export function hasStarted(pod: KubeObject): boolean {
  const { phase } = (pod['status'] ?? {}) as PodStatus // a Pod's status
  return phase === 'Running' || phase === 'Succeeded'
}
