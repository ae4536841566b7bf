import {
  type CallOptions,
  type Cluster,
  ClusterError,
  type KubeObject,
  type ManagedFields,
} from '../../adapters/kubernetes/cluster.ts'
import { MANAGER } from '../labels.ts'
import { isMap } from './comparison.ts'

/** Annotation in which `kubectl apply` stores the object that it applied last. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Annotation that records who added the object to the environment, and when. */
const ADOPTED = 'dev.platform/adopted'

/**
 * Field managers of tools with client-side apply. They own exactly the fields that the files of the tool declare, so
 * devctl can take over these fields.
 */
const CLIENT_SIDE = new Set(['kubectl-client-side-apply', 'okteto', 'kompose'])

/** Returns true if a tool has declared fields of the object with client-side apply. */
export const isDeclaredElsewhere = ({ metadata }: KubeObject): boolean =>
  (metadata.managedFields ?? []).some(isClientSide)

const isClientSide = ({ manager, operation, subresource }: ManagedFields): boolean =>
  operation === 'Update' && subresource === undefined && CLIENT_SIDE.has(manager)

/**
 * Makes devctl the owner of the fields that a client-side tool has declared. The next apply then removes fields that
 * the files do not set, as an apply of the tool would have done
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-
 * apply).
 * Retries once if the object changes in the meantime.
 */
export async function takeOverFields(cluster: Cluster, object: KubeObject, options: CallOptions): Promise<void> {
  try {
    await cluster.replace(migrated(object), options)
  } catch (error) {
    if (!(error instanceof ClusterError && error.failure === 'conflict')) throw error
    const { apiVersion, kind, metadata } = object
    const there = await cluster.get({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace }, options)
    if (there) await cluster.replace(migrated(there), options)
  }
}

/**
 * Records on an object who adopted it and when. Uses a separate field manager, so that the next deploy does not remove
 * the annotation.
 */
export async function noteAdoption(
  cluster: Cluster,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  note: { readonly by: string; readonly at: string },
  options: CallOptions,
): Promise<void> {
  const annotations = { [ADOPTED]: `${note.at} by ${note.by}` }
  const object = { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }), annotations } }
  await cluster.apply(object, { ...options, manager: `${MANAGER}-adoption`, force: true })
}

/** Returns the object with the declared fields moved to devctl's field manager; does not change its argument. */
export function migrated(object: KubeObject): KubeObject {
  const { managedFields = [], annotations, ...metadata } = object.metadata
  const declared = managedFields.filter(isClientSide)
  const [first] = declared
  if (!first) return object
  const { [LAST_APPLIED]: _, ...kept } = annotations ?? {}
  const fieldsV1 = declared.map(({ fieldsV1 }) => fieldsV1).reduce(united)
  const ours = { ...first, manager: MANAGER, operation: 'Apply' as const, fieldsV1 }
  const others = managedFields.filter(entry => !isClientSide(entry))
  return { ...object, metadata: { ...metadata, annotations: kept, managedFields: [...others, ours] } }
}

/** Merges two field sets, which are nested maps. */
function united(a: unknown, b: unknown): unknown {
  if (!isMap(a) || !isMap(b)) return a ?? b
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const merged = (key: string) => {
    if (!Object.hasOwn(a, key)) return b[key]
    return Object.hasOwn(b, key) ? united(a[key], b[key]) : a[key]
  }
  return Object.fromEntries([...keys].map(key => [key, merged(key)]))
}
