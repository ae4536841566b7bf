import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { AGENT_CONTAINER, DEVELOPMENT_LABEL, MIRROR_LABEL, TOOLS_VOLUME } from '../../constructs/mirror/names.ts'
import { isEnding } from '../objects/removal.ts'
import { upRecordOf } from '../objects/up-record.ts'
import type { Session } from '../session.ts'
import { runs } from './mirror-pod.ts'

/** A container of a mirror in which commands can run. */
export interface MirrorContainer {
  readonly pod: KubeObject
  readonly container: string
}

/** The mirror of a development container's own application; undefined where it is not active. */
export async function findMirror(
  { cluster, namespace, signal }: Pick<Session, 'cluster' | 'namespace' | 'signal'>,
  dev: string,
): Promise<KubeObject | undefined> {
  const labels = `${MIRROR_LABEL},${DEVELOPMENT_LABEL}=${dev}`
  const all = await cluster.list({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels }, { signal })
  return all.find(one => !isEnding(one) && !upRecordOf(one)?.isBeside)
}

/** The selector of a workload's Pods, as text. */
export function podSelector(workload: KubeObject): string {
  const { matchLabels } = (workload['spec'] as { selector: { matchLabels: Readonly<Record<string, string>> } }).selector
  return Object.entries(matchLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}

interface PodContainer {
  readonly name: string
  readonly volumeMounts?: readonly { readonly name: string }[]
}

/** The container of a mirror that a development container is: it has the tools. In hybrid mode that is the agent. */
export function developedContainer(mirror: KubeObject): string {
  const { containers } = (mirror['spec'] as { template: { spec: { containers: readonly PodContainer[] } } }).template
    .spec
  const hasTools = ({ volumeMounts = [] }: PodContainer) => volumeMounts.some(({ name }) => name === TOOLS_VOLUME)
  return containers.find(one => one.name !== AGENT_CONTAINER && hasTools(one))?.name ?? AGENT_CONTAINER
}

/** The container of an active development container that runs now; undefined where there is none. */
export async function runningContainer(session: Session, dev: string): Promise<MirrorContainer | undefined> {
  const { cluster, namespace, signal } = session
  const mirror = await findMirror(session, dev)
  if (!mirror) return undefined
  const container = developedContainer(mirror)
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels: podSelector(mirror) }, { signal })
  const pod = pods.find(one => !isEnding(one) && runs(one, container))
  return pod && { pod, container }
}
