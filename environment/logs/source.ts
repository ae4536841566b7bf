import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { SERVICE_LABEL } from '../labels.ts'
import { controllerOf } from '../status/owners.ts'

/** Container that has a log. */
export interface LogSource {
  /** Name of the container's Pod. */
  readonly pod: string
  readonly namespace: string
  readonly container: string
  /** Service name in Kubernetes form; for a Pod without a service, the name from its labels or its owner. */
  readonly service: string
  /** Name of the Job that the Pod belongs to; absent for other Pods. */
  readonly job?: string
  /** Prefix of the lines: `api-j2fnt`, or `api-j2fnt/fill-data` for a helper container of the service. */
  readonly name: string
}

/** A single run of a container, from its start to its end. */
export interface ContainerRun {
  readonly id: string
  readonly isRunning: boolean
  /** Exit status of a run that has ended. */
  readonly exit?: ExitStatus | undefined
  /** Exit status of the previous run, whose log the node still has; undefined if no previous run exists. */
  readonly previous?: ExitStatus | undefined
}

export interface ExitStatus {
  readonly code: number
  /** Reason such as `Error`, `Completed` or `OOMKilled`. */
  readonly reason: string | undefined
}

interface Container {
  readonly name: string
  readonly restartPolicy?: string
}
interface PodFields {
  readonly spec: { readonly containers?: readonly Container[]; readonly initContainers?: readonly Container[] }
  readonly status: {
    readonly phase?: string
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
  }
}
interface ContainerStatus {
  readonly name: string
  readonly restartCount: number
  readonly containerID?: string
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}
interface ContainerState {
  readonly running?: object
  readonly terminated?: Terminated
}
interface Terminated {
  readonly exitCode: number
  readonly reason?: string
  readonly containerID?: string
}

/**
 * Returns the containers of a Pod in the order in which they start. In a Pod of a group of services, each container
 * belongs to a different service.
 */
export function sourcesOf(pod: KubeObject): readonly LogSource[] {
  const { name, namespace = '', labels = {} } = pod.metadata
  const { spec } = fieldsOf(pod)
  const { containers = [], initContainers = [] } = spec
  const service = labels[SERVICE_LABEL]
  const controller = controllerOf(pod)
  const job = controller?.kind === 'Job' ? controller.name : undefined
  const instance = name.slice(name.lastIndexOf('-') + 1)
  const source = (container: string, service: string, name: string): LogSource =>
    ({ pod: pod.metadata.name, namespace, container, service, name, ...(job !== undefined && { job }) }) as const
  if (service !== undefined && labels['app.kubernetes.io/managed-by'] === 'devctl')
    return [
      ...initContainers.map(({ name, restartPolicy }) =>
        // The compiler turns a service that others of its group wait for into a sidecar; other init containers are
        // helpers.
        restartPolicy === 'Always'
          ? source(name, name, `${name}-${instance}`)
          : source(name, service, `${service}-${instance}/${name}`),
      ),
      ...containers.map(({ name }) => source(name, name, `${name}-${instance}`)),
    ]
  const owner = service ?? labels['app.kubernetes.io/name'] ?? labels['app'] ?? ownerOf(pod)
  const isAlone = initContainers.length + containers.length === 1
  return [...initContainers, ...containers].map(({ name: container }) =>
    source(container, owner, isAlone ? name : `${name}/${container}`),
  )
}

/**
 * Returns the newest run of a container for which a log exists: for a container that waits for a restart, the previous
 * run. Undefined if the container has not run yet.
 */
export function runOf(pod: KubeObject, container: string): ContainerRun | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = fieldsOf(pod).status
  const status = [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)
  if (!status) return undefined
  const { state = {}, lastState = {}, restartCount } = status
  const previous = lastState.terminated && exitOf(lastState.terminated)
  if (state.running) return { id: status.containerID || `#${restartCount}`, isRunning: true, previous }
  if (state.terminated) return { ...endedRun(state.terminated, restartCount), previous }
  // While the container waits for a restart, its log is the log of its last run.
  return lastState.terminated && endedRun(lastState.terminated, restartCount)
}

const exitOf = ({ exitCode, reason }: Terminated): ExitStatus => ({ code: exitCode, reason })

const endedRun = (ended: Terminated, restarts: number): ContainerRun => ({
  id: ended.containerID || `#${restarts}`,
  isRunning: false,
  exit: exitOf(ended),
})

/** Returns true if a Pod has ended for good: its phase is `Succeeded` or `Failed`. */
export function isFinished(pod: KubeObject): boolean {
  const { phase } = fieldsOf(pod).status
  return phase === 'Succeeded' || phase === 'Failed'
}

function fieldsOf(pod: KubeObject): PodFields {
  const { spec = {}, status = {} } = pod as Partial<PodFields> // the server has checked its shape
  return { spec, status }
}

function ownerOf(pod: KubeObject): string {
  const owner = controllerOf(pod)
  // A ReplicaSet is named after its Deployment and a hash.
  return owner?.kind === 'ReplicaSet' ? owner.name.replace(/-[^-]+$/, '') : (owner?.name ?? pod.metadata.name)
}

/** Labels that `sourcesOf` reads. */
const LABELS = [SERVICE_LABEL, 'app.kubernetes.io/managed-by', 'app.kubernetes.io/name', 'app']

/** Copies the fields of a Pod that are needed to read its logs. A full Pod can have 1.5 MiB. */
export function slimPod(pod: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = pod
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, labels = {} } = metadata
  const { spec, status } = fieldsOf(pod)
  const controller = controllerOf(pod)
  const containers = (of: typeof spec.containers = []) =>
    of.map(one => ({ name: one.name, ...(one.restartPolicy !== undefined && { restartPolicy: one.restartPolicy }) }))
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      labels: Object.fromEntries(LABELS.flatMap(key => (labels[key] === undefined ? [] : [[key, labels[key]]]))),
      ...(controller && { ownerReferences: [controller] }),
    },
    spec: { containers: containers(spec.containers), initContainers: containers(spec.initContainers) },
    status: {
      ...(status.phase !== undefined && { phase: status.phase }),
      containerStatuses: status.containerStatuses?.map(slimStatus) ?? [],
      initContainerStatuses: status.initContainerStatuses?.map(slimStatus) ?? [],
    },
  }
}

const slimStatus = ({ name, restartCount, containerID, state, lastState }: ContainerStatus): ContainerStatus => ({
  name,
  restartCount,
  ...(containerID !== undefined && { containerID }),
  state: { ...(state?.running && { running: {} }), ...ended(state?.terminated) },
  lastState: ended(lastState?.terminated),
})

/** Returns the termination of a container without its message, which can have 4 KiB; empty if there is none. */
const ended = (of: Terminated | undefined): { readonly terminated?: Terminated } =>
  of === undefined
    ? {}
    : {
        terminated: {
          exitCode: of.exitCode,
          ...(of.reason !== undefined && { reason: of.reason }),
          ...(of.containerID !== undefined && { containerID: of.containerID }),
        },
      }
