import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { gone, isEnding } from '../apply/removal.ts'
import { ownLabels } from '../labels.ts'

/** A kind of objects that an environment has. */
export interface RecordedKind {
  readonly apiVersion: string
  readonly kind: string
  /**
   * Namespace of the objects: absent for the environment's own, null for cluster-scoped objects. Only commands create
   * objects outside of the environment's namespace.
   */
  readonly namespace?: string | null
}

/** Origin of the deployed files: two projects of the same name must not overwrite each other's environment. */
export interface Source {
  /** The address of the repository without credentials, else the name of the folder. */
  readonly repository: string
  /** The first file, as a path from the top of the repository. */
  readonly file: string
}

/**
 * The cluster's record of an environment. With the kinds of its objects, those that left the
 * Compose file are found without looking through every kind there is. The kinds are written, old
 * and new ones, before anything is applied, and shrunk at the end, so that a crash in between loses
 * track of nothing.
 */
export interface EnvironmentRecord {
  readonly kinds: readonly RecordedKind[]
  readonly source?: Source
  /** The user of the last deploy, and its time (ISO 8601). */
  readonly deployed?: { readonly by: string; readonly at: string }
  /**
   * The deployed application, in the format of `readApplication`, and the changes of the last deploys, in the format of
   * `readChangeLists`.
   */
  readonly application?: string
  readonly history?: string
  /** Hashes of the warnings that the last deploy has reported (deploy/known-warnings.ts). */
  readonly warnings?: readonly string[]
  /** resourceVersion of the ConfigMap; changes with each write. */
  readonly version?: string
  /**
   * The object, when it is being deleted: what it says still holds, but it has to be written again.
   */
  readonly ending?: KubeObject
}

/**
 * The name of the ConfigMap that holds the record, of the Secret with the environment's key, and of
 * the Lease of a running deploy.
 */
export const recordName = (environment: string): string => `devctl-${environment}`

/** True if an object is one that devctl keeps for itself. */
export const isOwn = ({ kind, metadata }: KubeObject, environment: string): boolean =>
  ['ConfigMap', 'Secret', 'Lease'].includes(kind) && metadata.name === recordName(environment)

/** Returns the reference to the record of an environment. */
export const recordRef = (environment: string, namespace: string) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', name: recordName(environment), namespace }) as const

/**
 * The record of an environment; undefined when it was never deployed. What cannot be read in it
 * counts as not there.
 */
export async function readRecord(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<EnvironmentRecord | undefined> {
  const found = await cluster.get(recordRef(environment, namespace), options)
  return found && toRecord(found)
}

/** The record in an object. */
export function toRecord(found: KubeObject): EnvironmentRecord {
  // A ConfigMap's data are texts, those of `binaryData` in base64.
  const texts = (field: string) => (found[field] ?? {}) as Readonly<Record<string, string>>
  const { kinds = '', repository, file, by, at, application, warnings } = texts('data')
  const { history } = texts('binaryData')
  return {
    ...(isEnding(found)
      ? { ending: found }
      : found.metadata.resourceVersion && { version: found.metadata.resourceVersion }),
    kinds: kinds.split('\n').flatMap(parseKind),
    ...(repository !== undefined && file !== undefined && { source: { repository, file } }),
    ...(by !== undefined && at !== undefined && { deployed: { by, at } }),
    ...(application !== undefined && { application }),
    ...(history !== undefined && { history }),
    ...(warnings !== undefined && { warnings: warnings.split(' ').filter(Boolean) }),
  }
}

/**
 * Replaces the record at `version`; without it, creates a record, after waiting for the deletion of a record that is
 * being deleted (`ending`). Returns the new version. Throws a ClusterError for which `isOvertaken` is true if another
 * process was faster.
 */
export async function writeRecord(
  cluster: Cluster,
  environment: string,
  namespace: string,
  { kinds, source, deployed, application, history, warnings, version, ending }: EnvironmentRecord,
  options: CallOptions,
): Promise<string | undefined> {
  const { name } = recordRef(environment, namespace)
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: ownLabels(environment), ...(version && { resourceVersion: version }) },
    data: {
      kinds: `${kinds.map(kindText).join('\n')}\n`,
      ...source,
      ...deployed,
      ...(application !== undefined && { application }),
      ...(warnings && warnings.length > 0 && { warnings: warnings.join(' ') }),
    },
    ...(history !== undefined && { binaryData: { history } }),
  }
  if (ending) await gone(cluster, [ending], options.signal)
  const written = version ? await cluster.replace(object, options) : await cluster.create(object, options)
  return written.metadata.resourceVersion
}

/**
 * True if a record could not be written because it was created, changed or deleted since it was
 * read.
 */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof ClusterError && ['exists', 'conflict', 'not-found'].includes(error.failure)

/** Forgets the environment. */
export async function deleteRecord(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<void> {
  await cluster.delete(recordRef(environment, namespace), options)
}

/** The kinds of all lists, sorted, each once. */
export function unitedKinds(...lists: readonly (readonly RecordedKind[])[]): readonly RecordedKind[] {
  const byText = new Map(lists.flat().map(kind => [kindText(kind), kind]))
  return [...byText]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { apiVersion, kind, namespace }]) => ({
      apiVersion,
      kind,
      ...(namespace !== undefined && { namespace }),
    }))
}

/** True if two lists have the same kinds. */
export const sameKinds = (a: readonly RecordedKind[], b: readonly RecordedKind[]): boolean =>
  JSON.stringify(unitedKinds(a)) === JSON.stringify(unitedKinds(b))

/** True if two sources are the same; of two that are not known, too. */
export const sameSource = (a: Source | undefined, b: Source | undefined): boolean =>
  a?.repository === b?.repository && a?.file === b?.file

/**
 * `apps/v1 Deployment`, with where it is behind it where that is not the environment's namespace: a
 * namespace, or `*` for the cluster.
 */
function kindText({ apiVersion, kind, namespace }: RecordedKind): string {
  return `${apiVersion} ${kind}${namespace === undefined ? '' : ` ${namespace ?? '*'}`}`
}

function parseKind(line: string): RecordedKind[] {
  const [apiVersion, kind, where] = line.trim().split(' ')
  if (!apiVersion || !kind) return []
  return [{ apiVersion, kind, ...(where !== undefined && { namespace: where === '*' ? null : where }) }]
}

/**
 * Returns a function that adds a kind to the record before another tool, such as a command, creates the first object of
 * that kind; once per kind. The other entries of the record stay.
 */
export function kindKeeper(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): (kind: RecordedKind) => Promise<void> {
  let last = Promise.resolve()
  return kind => {
    const next = last.then(async () => {
      const record = (await readRecord(cluster, environment, namespace, options)) ?? { kinds: [] }
      const kinds = unitedKinds(record.kinds, [kind])
      if (!sameKinds(kinds, record.kinds))
        await writeRecord(cluster, environment, namespace, { ...record, kinds }, options)
    })
    // One that fails is the failure of its own caller.
    last = next.catch(() => undefined)
    return next
  }
}
