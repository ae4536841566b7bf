import type { KubeObject, ObjectQuery } from '../../adapters/kubernetes/cluster.ts'
import {
  AGENT_CONTAINER,
  DEVELOPMENT_LABEL,
  FILL_CONTAINER,
  MIRROR_LABEL,
  TOOLS_VOLUME,
} from '../../constructs/mirror/names.ts'
import { isEnding } from '../../environment/apply/removal.ts'
import { upRecordOf } from '../../environment/record/up-record.ts'
import type { Session } from '../../project/session.ts'
import { containerRuns } from '../exec/container-runs.ts'

/** A container of a mirror in which commands can run. */
export interface MirrorContainer {
  readonly pod: KubeObject
  readonly container: string
}

type Here = Pick<Session, 'cluster' | 'namespace' | 'signal'>

/** Returns all mirrors of a development container, including those that are being deleted. */
export const mirrorsOf = ({ cluster, namespace, signal }: Here, dev: string): Promise<readonly KubeObject[]> =>
  cluster.list(mirrorQuery(namespace, dev), { signal })

/** Returns the query for the mirrors of a development container. */
export const mirrorQuery = (namespace: string, dev: string): ObjectQuery => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace,
  labels: `${MIRROR_LABEL},${DEVELOPMENT_LABEL}=${dev}`,
})

/** Mirrors of an active development container. */
export interface ActiveMirrors {
  /** Mirror of the container's own application; undefined if the development container is not active. */
  readonly main: KubeObject | undefined
  /** Mirrors of the `services` of the development container. */
  readonly beside: readonly KubeObject[]
}

/** Returns the mirrors of a development container that are not being deleted. */
export async function findMirrors(here: Here, dev: string): Promise<ActiveMirrors> {
  const all = (await mirrorsOf(here, dev)).filter(one => !isEnding(one))
  const isBeside = (one: KubeObject) => upRecordOf(one)?.isBeside === true
  return { main: all.find(one => !isBeside(one)), beside: all.filter(isBeside) }
}

/** Returns the mirror of a development container's own application; undefined if the container is not active. */
export const findMirror = async (here: Here, dev: string): Promise<KubeObject | undefined> =>
  (await findMirrors(here, dev)).main

/** Returns the Pods of a mirror that are not being deleted. */
export async function podsOf({ cluster, namespace, signal }: Here, mirror: KubeObject): Promise<readonly KubeObject[]> {
  const query = { apiVersion: 'v1', kind: 'Pod', namespace, labels: podSelector(mirror) }
  return (await cluster.list(query, { signal })).filter(one => !isEnding(one))
}

/** Returns the selector of a workload's Pods as text. */
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

/**
 * Returns the name of the container that is developed, which is the container with the tools. In hybrid mode, this is
 * the agent.
 */
export function developedContainer(mirror: KubeObject): string {
  const { containers } = (mirror['spec'] as { template: { spec: { containers: readonly PodContainer[] } } }).template
    .spec
  const hasTools = ({ volumeMounts = [] }: PodContainer) => volumeMounts.some(({ name }) => name === TOOLS_VOLUME)
  const isOurs = ({ name }: PodContainer) => name === AGENT_CONTAINER || name === FILL_CONTAINER
  return containers.find(one => !isOurs(one) && hasTools(one))?.name ?? AGENT_CONTAINER
}

/** Returns the running container of an active development container; undefined if there is none. */
export async function runningContainer(session: Session, dev: string): Promise<MirrorContainer | undefined> {
  const mirror = await findMirror(session, dev)
  if (!mirror) return undefined
  const container = developedContainer(mirror)
  for (const pod of await podsOf(session, mirror))
    if (await containerRuns(session, pod, container)) return { pod, container }
  return undefined
}
