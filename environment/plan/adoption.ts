import {
  type CallOptions,
  type Cluster,
  ClusterError,
  type KubeObject,
  type ManagedFields,
} from '../../adapters/kubernetes/cluster.ts'
import { MANAGER } from '../labels.ts'
import { isMap } from './comparison.ts'

/** Annotation in which `kubectl apply` keeps the object that it has last applied. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The annotation that tells who made an object part of the environment, and when. */
const ADOPTED = 'dev.platform/adopted'

/**
 * Tools that apply on the client's side: each has declared the fields that it has, as devctl does
 * from now on.
 */
const CLIENT_SIDE = new Set(['kubectl-client-side-apply', 'okteto', 'kompose'])

/** True if a tool on the client's side has declared fields of an object. */
export const isDeclaredElsewhere = ({ metadata }: KubeObject): boolean =>
  (metadata.managedFields ?? []).some(isClientSide)

const isClientSide = ({ manager, operation, subresource }: ManagedFields): boolean =>
  operation === 'Update' && subresource === undefined && CLIENT_SIDE.has(manager)

/**
 * Makes devctl the owner of the fields that such a tool has declared, so that the next apply removes those that the
 * files do not set, as the tool's own apply would have
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply).
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
 * Notes on an object that it was adopted, by whom and when: under a manager of its own, so that the
 * next deploy leaves it there.
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

/** The object with the declared fields under our name; pure. */
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

/** The fields of both: maps within maps. */
function united(a: unknown, b: unknown): unknown {
  if (!isMap(a) || !isMap(b)) return a ?? b
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries(
    [...keys].map(key => [key, key in a && key in b ? united(a[key], b[key]) : (a[key] ?? b[key])]),
  )
}
