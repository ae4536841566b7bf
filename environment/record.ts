import type { CallOptions, Cluster, KubeObject } from '../cluster/cluster.ts'
import { ENVIRONMENT_LABEL, MANAGER } from './labels.ts'

/** A kind of objects that an environment has. */
export interface RecordedKind {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * What the cluster remembers of an environment: the kinds of its objects, so that what left the Compose file is found without looking through
 * every kind there is. It is written with old and new kinds before anything is applied, and shrunk at the end: a crash in between loses track of nothing
 * (reference/peers.md 4.1, 4.2).
 */
export interface EnvironmentRecord {
  readonly kinds: readonly RecordedKind[]
}

/** The name of the ConfigMap that holds the record, and of the Lease of a running deploy. */
export const recordName = (environment: string): string => `devctl-${environment}`

const recordRef = (environment: string, namespace: string) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', name: recordName(environment), namespace }) as const

/** The record of an environment; undefined when it was never deployed. What cannot be read in it counts as not there. */
export async function readRecord(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<EnvironmentRecord | undefined> {
  const found = await cluster.get(recordRef(environment, namespace), options)
  if (!found) return undefined
  const data = found['data'] as Readonly<Record<string, string>> | undefined // a ConfigMap's data are texts
  return { kinds: (data?.['kinds'] ?? '').split('\n').flatMap(parseKind) }
}

/** Writes the record. */
export async function writeRecord(
  cluster: Cluster,
  environment: string,
  namespace: string,
  { kinds }: EnvironmentRecord,
  options: CallOptions,
): Promise<void> {
  const { name } = recordRef(environment, namespace)
  const labels = { [ENVIRONMENT_LABEL]: environment, 'app.kubernetes.io/managed-by': 'devctl' }
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels },
    data: { kinds: `${kinds.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).join('\n')}\n` },
  }
  await cluster.apply(object, { ...options, manager: MANAGER, force: true })
}

/** Forgets the environment. */
export async function deleteRecord(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<void> {
  await cluster.delete(recordRef(environment, namespace), options)
}

/** The kinds of both, sorted, each once. */
export function unitedKinds(...lists: readonly (readonly RecordedKind[])[]): readonly RecordedKind[] {
  const byKey = new Map(lists.flat().map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, { apiVersion, kind }]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind)
}

/** Whether two records say the same. */
export const sameKinds = (a: readonly RecordedKind[], b: readonly RecordedKind[]): boolean =>
  JSON.stringify(unitedKinds(a)) === JSON.stringify(unitedKinds(b))

function parseKind(line: string): RecordedKind[] {
  const [apiVersion, kind] = line.trim().split(' ')
  return apiVersion && kind ? [{ apiVersion, kind }] : []
}
