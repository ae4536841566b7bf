import type { Cluster } from './cluster.ts'

/** An object as far as tests compare it. */
export interface Seen {
  /** `Deployment/web`. */
  readonly id: string
  readonly uid: string
  /** Value that changes when the object is written; its status does not count. */
  readonly version: string
  /** The service it is of; empty for what services share. */
  readonly service: string
}

/** An object as the API server gives it, as far as tests look into it. */
export interface Listed {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly generation?: number
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: Readonly<Record<string, unknown>>
}

/** Kinds of objects that come and go by themselves, and belong to no owner or to a listed one. */
const FLEETING = /^(events|pods|replicasets|controllerrevisions|endpoints|endpointslices|leases)\b/

/** The names of all kinds that have objects in namespaces and can be listed. */
async function kinds(cluster: Cluster): Promise<readonly string[]> {
  const names = await cluster.kubectl('api-resources', '--namespaced', '--verbs=list', '--output=name')
  return names
    .split('\n')
    .filter(name => name !== '' && !FLEETING.test(name) && !/metrics\.k8s\.io|example\.com/.test(name))
}

/** Lists the live objects of a namespace, of every kind except Pods and the like. */
export async function list(
  cluster: Cluster,
  namespace: string,
  ...args: readonly string[]
): Promise<readonly Listed[]> {
  const resources = (await kinds(cluster)).join(',')
  return JSON.parse(await cluster.kubectl('--namespace', namespace, 'get', resources, '--output=json', ...args)).items
}

/**
 * Lists the objects of a namespace, of every kind, as `Kind/name`; Pods and the like are left out, because their owners
 * are listed.
 */
export async function objectsIn(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  return (await list(cluster, namespace)).map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort()
}

/** The objects of an environment, of whatever kind. */
export async function ownedBy(cluster: Cluster, namespace: string, environment: string): Promise<readonly Seen[]> {
  const items = await list(cluster, namespace, `--selector=dev.platform/environment=${environment}`)
  return items
    .map(({ kind, metadata, spec }) => ({
      id: `${kind}/${metadata.name}`,
      uid: metadata.uid,
      version: `${versionOf({ kind, metadata, spec })} ${JSON.stringify(metadata.labels)}`,
      service: metadata.labels?.['dev.platform/service'] ?? '',
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Returns a value that a change of the status, which a controller may write at any time, leaves as it is. */
function versionOf({ kind, metadata, spec }: Pick<Listed, 'kind' | 'metadata' | 'spec'>): string {
  // An autoscaler has a status, and no generation.
  if (kind === 'HorizontalPodAutoscaler') return JSON.stringify(spec)
  return String(metadata.generation ?? metadata.resourceVersion)
}
