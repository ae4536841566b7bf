import type { KubeObject, Resource } from '../../../adapters/kubernetes/cluster.ts'

/** Properties of a kind that a MemoryCluster knows. */
export interface Kind extends Resource {
  readonly apiVersion: string
  readonly kind: string
  /** Its `metadata.generation` counts the changes of the spec, and its status is not for those who apply it. */
  readonly hasStatus: boolean
  /** The fields beside `apiVersion`, `kind` and `metadata`; undefined when any will do. */
  readonly fields?: readonly string[]
  /**
   * Paths that cannot change once the object exists, such as `spec.selector`; or a function that returns them, for
   * kinds that allow only some changes.
   */
  readonly fixed?: readonly string[] | ((before: KubeObject, after: KubeObject) => readonly string[])
}

type Spec = Record<string, unknown>

const specOf = (object: KubeObject): Spec => (object['spec'] ?? {}) as Spec // every built-in kind's is a map
const allBut =
  (...free: readonly string[]) =>
  (before: KubeObject, after: KubeObject) =>
    [...new Set([...Object.keys(specOf(before)), ...Object.keys(specOf(after))])]
      .filter(key => !free.includes(key))
      .map(key => `spec.${key}`)

function kind(
  apiVersion: string,
  kind: string,
  name: string,
  fields: string,
  more: Partial<Pick<Kind, 'namespaced' | 'hasStatus' | 'fixed'>> = {},
): Kind {
  const words = fields.split(' ')
  return { apiVersion, kind, name, namespaced: true, hasStatus: words.includes('status'), fields: words, ...more }
}

/** The kinds that every MemoryCluster has: those that devctl makes, and those that come of them. */
export const KINDS: readonly Kind[] = [
  kind('v1', 'Namespace', 'namespaces', 'spec status', { namespaced: false }),
  kind('v1', 'ConfigMap', 'configmaps', 'data binaryData immutable', { fixed: dataWhenImmutable }),
  kind('v1', 'Secret', 'secrets', 'data stringData type immutable', {
    fixed: (before, after) => ['type', ...dataWhenImmutable(before, after)],
  }),
  kind('v1', 'Service', 'services', 'spec status', { fixed: ['spec.clusterIP'] }),
  kind('v1', 'ServiceAccount', 'serviceaccounts', 'secrets imagePullSecrets automountServiceAccountToken'),
  kind('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', 'spec status', { fixed: allBut('resources') }),
  kind('v1', 'Pod', 'pods', 'spec status', {
    fixed: allBut('containers', 'initContainers', 'tolerations', 'activeDeadlineSeconds', 'nodeName'),
  }),
  kind(
    'v1',
    'Event',
    'events',
    'involvedObject reason message type count firstTimestamp lastTimestamp eventTime source',
  ),
  kind('v1', 'ResourceQuota', 'resourcequotas', 'spec status'),
  kind('apps/v1', 'Deployment', 'deployments', 'spec status', { fixed: ['spec.selector'] }),
  kind('apps/v1', 'DaemonSet', 'daemonsets', 'spec status', { fixed: ['spec.selector'] }),
  kind('apps/v1', 'ReplicaSet', 'replicasets', 'spec status', { fixed: ['spec.selector'] }),
  kind('apps/v1', 'StatefulSet', 'statefulsets', 'spec status', {
    fixed: allBut(
      'replicas',
      'template',
      'updateStrategy',
      'minReadySeconds',
      'ordinals',
      'revisionHistoryLimit',
      'persistentVolumeClaimRetentionPolicy',
    ),
  }),
  kind('batch/v1', 'Job', 'jobs', 'spec status', { fixed: ['spec.template', 'spec.completions', 'spec.selector'] }),
  kind('batch/v1', 'CronJob', 'cronjobs', 'spec status'),
  kind('networking.k8s.io/v1', 'Ingress', 'ingresses', 'spec status'),
  kind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', 'spec'),
  kind('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'spec status'),
  kind('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'spec status'),
  kind('rbac.authorization.k8s.io/v1', 'Role', 'roles', 'rules'),
  kind('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', 'subjects roleRef', { fixed: ['roleRef'] }),
  kind('coordination.k8s.io/v1', 'Lease', 'leases', 'spec'),
  kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'spec status', {
    namespaced: false,
  }),
]

function dataWhenImmutable(before: KubeObject, _after: KubeObject): readonly string[] {
  return before['immutable'] === true ? ['data', 'binaryData', 'immutable'] : []
}

/**
 * The fields of a list's items that tell them apart, each with the value of an item that has none; undefined for a list
 * that is one value.
 */
export function keysOf(path: readonly string[], kind: string): readonly Key[] | undefined {
  if (path[0] === 'metadata') return path[1] === 'ownerReferences' ? [{ name: 'uid' }] : undefined
  const last = path.at(-1)!
  if (last === 'ports' && path.length === 2) return kind === 'Service' ? [{ name: 'port' }, PROTOCOL] : undefined
  if (last === 'ports' && path.includes('containers')) return [{ name: 'containerPort' }, PROTOCOL]
  if (last === 'volumes' && path.at(-2) !== 'spec') return undefined
  return KEYS[last]
}

export interface Key {
  readonly name: string
  readonly default?: string
}

const PROTOCOL: Key = { name: 'protocol', default: 'TCP' }
const NAME: readonly Key[] = [{ name: 'name' }]
const KEYS: Readonly<Record<string, readonly Key[]>> = {
  containers: NAME,
  initContainers: NAME,
  env: NAME,
  volumes: NAME,
  imagePullSecrets: NAME,
  volumeMounts: [{ name: 'mountPath' }],
  volumeDevices: [{ name: 'devicePath' }],
  hostAliases: [{ name: 'ip' }],
  topologySpreadConstraints: [{ name: 'topologyKey' }, { name: 'whenUnsatisfiable' }],
  conditions: [{ name: 'type' }],
}

/** Returns true if a list is a set: its items are values, and each has its own owner. */
export const isSet = (path: readonly string[]): boolean => path.join('.') === 'metadata.finalizers'

/** Returns true if a map has one owner as a whole. */
export const isWhole = (path: readonly string[]): boolean => WHOLE.has(path.at(-1)!) && path[0] !== 'data'

const WHOLE = new Set([
  'selector',
  'nodeSelector',
  'labelSelector',
  'podSelector',
  'namespaceSelector',
  'configMapKeyRef',
  'secretKeyRef',
  'fieldRef',
  'resourceFieldRef',
  'roleRef',
])
