import {
  type CallOptions,
  type Cluster,
  ClusterError,
  type ClusterFailure,
  type KubeObject,
  type ObjectQuery,
} from '../../adapters/kubernetes/cluster.ts'
import { ENVIRONMENT_LABEL, HOME_LABEL } from '../labels.ts'
import { inParallel } from '../pool.ts'
import { isDependant } from '../status/owners.ts'
import { nameOf } from './desired-state.ts'
import { keepsItself } from './prune-rules.ts'

/** Environment whose objects are told apart from foreign objects. */
export interface Belonging {
  readonly environment: string
  /** Namespace of the environment. */
  readonly namespace: string
  /** True if claims belong to the environment, too, because they are deleted with it. */
  readonly volumes: boolean
}

/**
 * Returns the reason why a Namespace or CustomResourceDefinition must not be deleted with its environment: objects that
 * do not belong to the environment, or that are annotated to be kept, would be deleted with it. Undefined if there are
 * no such objects, and for objects of other kinds.
 */
export async function foreignContent(
  cluster: Cluster,
  object: KubeObject,
  of: Belonging,
  options: CallOptions,
): Promise<string | undefined> {
  try {
    const inside = await contentOf(cluster, object, options)
    const names = inside.filter(one => !isGiven(one) && !isDependant(one) && !goesWith(one, of)).map(placeOf)
    if (names.length === 0) return undefined
    const [more, shown] = [names.length - SHOWN, names.slice(0, SHOWN).join(', ')]
    return `it contains ${shown}${more > 0 ? ` and ${more} more` : ''}, which would be deleted with it`
  } catch (error) {
    if (!(error instanceof ClusterError && UNLISTED.includes(error.failure))) throw error
    return `its content cannot be listed: ${error.message}`
  }
}

/** Maximum number of objects listed in a message. */
const SHOWN = 3
/** Failures of a list that do not affect other objects of the environment. */
const UNLISTED: readonly ClusterFailure[] = ['forbidden', 'unavailable']

/** Returns all objects that are deleted together with an object. */
async function contentOf(cluster: Cluster, object: KubeObject, options: CallOptions): Promise<readonly KubeObject[]> {
  if (object.kind === 'Namespace') {
    const { name: namespace } = object.metadata
    const { kinds, unavailable } = await cluster.kinds(options)
    if (unavailable[0] !== undefined)
      throw new ClusterError('unavailable', `the API \`${unavailable[0]}\` is unavailable`)
    const namespaced = kinds.filter(one => one.namespaced)
    const lists = await inParallel(namespaced, ({ apiVersion, kind }) =>
      listIfKnown(cluster, { apiVersion, kind, namespace }, options),
    )
    return lists.flat()
  }
  if (object.kind !== 'CustomResourceDefinition') return []
  const {
    group,
    names,
    versions = [],
  } = (object['spec'] ?? {}) as {
    readonly group?: string
    readonly names?: { readonly kind?: string }
    readonly versions?: readonly { readonly name: string; readonly served?: boolean }[]
  } // a CustomResourceDefinition's spec
  const version = versions.find(({ served }) => served)
  if (!version || !group || !names?.kind) return []
  return listIfKnown(cluster, { apiVersion: `${group}/${version.name}`, kind: names.kind }, options)
}

/**
 * Lists the objects of a kind; returns an empty list if the cluster does not have the kind, for example because its
 * definition is being deleted at the same time.
 */
async function listIfKnown(cluster: Cluster, query: ObjectQuery, options: CallOptions): Promise<readonly KubeObject[]> {
  try {
    return await cluster.list(query, options)
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'not-found') return []
    throw error
  }
}

/** Returns true if the object is deleted with the environment. */
function goesWith(object: KubeObject, { environment, namespace, volumes }: Belonging): boolean {
  const { labels, namespace: where } = object.metadata
  if (labels?.[ENVIRONMENT_LABEL] !== environment || keepsItself(object)) return false
  if (object.kind === 'PersistentVolumeClaim' && !volumes) return false
  return where === namespace || labels[HOME_LABEL] === namespace
}

/** Objects that Kubernetes and common add-ons create in every namespace. */
const GIVEN: Readonly<Record<string, RegExp>> = {
  ConfigMap: /^(kube-root-ca\.crt|openshift-service-ca\.crt|istio-ca-root-cert)$/,
  ServiceAccount: /^(default|builder|deployer)$/,
  RoleBinding: /^system:/,
  Event: /./,
  Endpoints: /./,
  EndpointSlice: /./,
}

function isGiven(object: KubeObject): boolean {
  const { kind, metadata } = object
  const isToken =
    kind === 'Secret' && /^kubernetes\.io\/(service-account-token|dockercfg)$/.test(String(object['type']))
  return isToken || (GIVEN[kind]?.test(metadata.name) ?? false)
}

/** Formats the name of an object with its namespace: `gadget/spare in team-b`. */
const placeOf = (object: KubeObject): string =>
  object.metadata.namespace === undefined ? nameOf(object) : `${nameOf(object)} in ${object.metadata.namespace}`
