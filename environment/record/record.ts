import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { gone, isEnding } from '../apply/removal.ts'
import { ownLabels } from '../labels.ts'

/** Kind of objects that an environment has. */
export interface RecordedKind {
  readonly apiVersion: string
  readonly kind: string
  /**
   * Namespace of the objects: absent for the namespace of the environment, null for cluster-scoped objects. Only
   * commands create objects outside the environment's namespace.
   */
  readonly namespace?: string | null
}

/**
 * Origin of the deployed files. Deploys compare the origin, so that two projects of the same name cannot overwrite each
 * other's environment.
 */
export interface Source {
  /** Address of the repository without credentials, or the name of the folder if there is no repository. */
  readonly repository: string
  /** Path of the first file, relative to the top of the repository. */
  readonly file: string
}

/**
 * Record of an environment in the cluster. It lists the kinds of the environment's objects, so that objects removed
 * from the Compose file are found without listing every kind of the cluster. Old and new kinds are written before
 * anything is applied, and the list is reduced at the end, so that no object is lost track of after a crash.
 */
export interface EnvironmentRecord {
  readonly kinds: readonly RecordedKind[]
  readonly source?: Source
  /** User (`by`) and time (`at`, ISO 8601) of the last deploy. */
  readonly deployed?: { readonly by: string; readonly at: string }
  /**
   * Deployed application (`application`), in the format of `readApplication`, and the changes of the last deploys
   * (`history`), in the format of `readChangeLists`.
   */
  readonly application?: string
  readonly history?: string
  /** Hashes of the warnings that the last deploy reported (deploy/known-warnings.ts). */
  readonly warnings?: readonly string[]
  /** resourceVersion of the ConfigMap; changes with each write. */
  readonly version?: string
  /** The ConfigMap of the record, if it is being deleted: the content is still valid, but has to be written again. */
  readonly ending?: KubeObject
}

/**
 * Returns the name of the ConfigMap with the record, of the Secret with the environment's key, and of the Lease of a
 * running deploy.
 */
export const recordName = (environment: string): string => `devctl-${environment}`

/** Returns true for the objects that devctl stores for itself. */
export const isOwn = ({ kind, metadata }: KubeObject, environment: string): boolean =>
  ['ConfigMap', 'Secret', 'Lease'].includes(kind) && metadata.name === recordName(environment)

/** Returns the reference to the record of an environment. */
export const recordRef = (environment: string, namespace: string) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', name: recordName(environment), namespace }) as const

/**
 * Returns the record of an environment; undefined if the environment was never deployed. Unreadable parts count as
 * missing.
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

/** Parses the record from its object. */
export function toRecord(found: KubeObject): EnvironmentRecord {
  // The data of a ConfigMap is text; `binaryData` is base64.
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
 * Replaces the record at `version`. Without a version, creates the record, after waiting for an old record to be
 * deleted (`ending`). Returns the new version. Throws a ClusterError for which `isOvertaken` is true if another process
 * has written the record first.
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

/** Returns true if a record could not be written because it was created, changed or deleted since it was read. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof ClusterError && ['exists', 'conflict', 'not-found'].includes(error.failure)

/** Deletes the record of an environment. */
export async function deleteRecord(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<void> {
  await cluster.delete(recordRef(environment, namespace), options)
}

/** Returns the kinds of all lists, sorted, each once. */
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

/** Returns true if two lists contain the same kinds. */
export const sameKinds = (a: readonly RecordedKind[], b: readonly RecordedKind[]): boolean =>
  JSON.stringify(unitedKinds(a)) === JSON.stringify(unitedKinds(b))

/** Returns true if two sources are the same, or both are unknown. */
export const sameSource = (a: Source | undefined, b: Source | undefined): boolean =>
  a?.repository === b?.repository && a?.file === b?.file

/**
 * Formats a kind as `apps/v1 Deployment`, followed by a namespace other than the environment's, or by `*` for a
 * cluster-scoped kind.
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
 * Returns a function that adds a kind to the record, to be called before another tool, such as a command, creates the
 * first object of that kind. Writes each kind once, and keeps the other entries of the record.
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
    // A failure is reported to the caller that requested the kind, not to later ones.
    last = next.catch(() => undefined)
    return next
  }
}
