import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isEnding } from '../apply/removal.ts'
import { unlessForbidden } from '../forbidden.ts'
import { environmentSelector, SERVICE_LABEL } from '../labels.ts'
import { isReady } from './problems.ts'
import { noPodError, noRunError } from './service-pods.ts'

/** Target of connections to a port of a service. */
export interface ForwardTarget {
  readonly pod: string
  readonly namespace: string
  /** Port of the Pod. */
  readonly port: number
}

interface ServicePort {
  readonly port: number
  readonly targetPort?: number | string
}

interface ServiceSpec {
  readonly ports?: readonly ServicePort[]
  readonly selector?: Readonly<Record<string, string>>
}

interface PodContainer {
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[]
}

interface PodContainers {
  readonly containers?: readonly PodContainer[]
  readonly initContainers?: readonly PodContainer[]
}

/**
 * Returns a running Pod of the service, preferably a ready one, and the Pod port for the Service's port; a port that
 * the Service does not list is taken as a port of the Pod. Throws a UserError if no Pod of the service is running.
 */
export async function findForwardTarget(
  cluster: Cluster,
  { environment, namespace, service, port }: ForwardQuery,
  signal: AbortSignal,
): Promise<ForwardTarget> {
  const front = await cluster.get({ apiVersion: 'v1', kind: 'Service', name: service, namespace }, { signal })
  const { selector, ports } = (front?.spec ?? {}) as ServiceSpec
  // The container of the service may run in the Pods of another one.
  const labels = `${environmentSelector(environment)},${SERVICE_LABEL}=${selector?.[SERVICE_LABEL] ?? service}`
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels }, { signal })
  const running = pods.filter(one => !isEnding(one) && phaseOf(one) === 'Running')
  const pod = running.find(isReady) ?? running[0]
  if (pod === undefined) {
    const job = cluster.get({ apiVersion: 'batch/v1', kind: 'CronJob', name: service, namespace }, { signal })
    throw (await unlessForbidden(job, undefined)) ? noRunError(service) : noPodError({ service }, pods)
  }
  return { pod: pod.metadata.name, namespace, port: podPort(ports, pod, port) }
}

export interface ForwardQuery {
  readonly environment: string
  readonly namespace: string
  /** Service name in Kubernetes form. */
  readonly service: string
  /** Port of the Service, or of its Pods. */
  readonly port: number
}

function podPort(listed: readonly ServicePort[] = [], pod: KubeObject, port: number): number {
  const target = listed.find(one => one.port === port)?.targetPort ?? port
  if (typeof target === 'number') return target
  const { containers = [], initContainers = [] } = pod.spec as PodContainers
  // A Service also finds the ports of containers that start before the others.
  const named = [...containers, ...initContainers]
    .flatMap(({ ports = [] }) => ports)
    .find(({ name }) => name === target)
  return named?.containerPort ?? port
}

const phaseOf = ({ status }: KubeObject): string => (status as { phase?: string } | undefined)?.phase ?? 'Unknown'
