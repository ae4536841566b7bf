import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { SERVICE_LABEL } from '../labels.ts'
import { controllerOf } from '../status/owners.ts'

/** A container that has a log. */
export interface LogSource {
  /** The name of its Pod. */
  readonly pod: string
  readonly namespace: string
  readonly container: string
  /** Service name in Kubernetes form; for a Pod that no service made, the name from its labels or its owner. */
  readonly service: string
  /**
   * The prefix of its lines: `api-j2fnt`, and `api-j2fnt/fill-data` for a helper of the service.
   */
  readonly name: string
}

/** A single run of a container, from its start to its end. */
export interface ContainerRun {
  readonly id: string
  readonly isRunning: boolean
  /** Exit status of a run that has ended. */
  readonly exit?: ExitStatus | undefined
  /** Exit status of the previous run, whose log the node still has; undefined without one. */
  readonly previous?: ExitStatus | undefined
}

export interface ExitStatus {
  readonly code: number
  /** `Error`, `Completed`, `OOMKilled`. */
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
 * The containers of a Pod in the order in which they start. Those of a group of services are each
 * of a service of its own.
 */
export function sourcesOf(pod: KubeObject): readonly LogSource[] {
  const { name, namespace = '', labels = {} } = pod.metadata
  const { spec } = fieldsOf(pod)
  const { containers = [], initContainers = [] } = spec
  const service = labels[SERVICE_LABEL]
  const instance = name.slice(name.lastIndexOf('-') + 1)
  const source = (container: string, service: string, name: string): LogSource =>
    ({ pod: pod.metadata.name, namespace, container, service, name }) as const
  if (service !== undefined && labels['app.kubernetes.io/managed-by'] === 'devctl')
    return [
      ...initContainers.map(({ name, restartPolicy }) =>
        // The compiler makes a sidecar of a service that others of its group wait for; what else
        // runs before are helpers.
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

/** The newest run of a container that has a log; undefined before the first one. */
export function runOf(pod: KubeObject, container: string): ContainerRun | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = fieldsOf(pod).status
  const status = [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)
  if (!status) return undefined
  const { state = {}, lastState = {}, restartCount } = status
  const previous = lastState.terminated && exitOf(lastState.terminated)
  if (state.running) return { id: status.containerID || `#${restartCount}`, isRunning: true, previous }
  if (state.terminated) return { ...endedRun(state.terminated, restartCount), previous }
  // While it waits to be started again, its log is that of the last run.
  return lastState.terminated && endedRun(lastState.terminated, restartCount)
}

const exitOf = ({ exitCode, reason }: Terminated): ExitStatus => ({ code: exitCode, reason })

const endedRun = (ended: Terminated, restarts: number): ContainerRun => ({
  id: ended.containerID || `#${restarts}`,
  isRunning: false,
  exit: exitOf(ended),
})

/** True if a Pod has ended for good. */
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

/** The labels that `sourcesOf` reads. */
const LABELS = [SERVICE_LABEL, 'app.kubernetes.io/managed-by', 'app.kubernetes.io/name', 'app']

/** Copies the fields of a Pod that reading its logs needs. A whole Pod can have 1.5 MiB. */
export function slimPod(pod: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = pod
  const { name, namespace, uid, deletionTimestamp, labels = {} } = metadata
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

/** Returns the state without its message, which can have 4 KiB. */
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
