import type { Resource } from './cluster.ts'

/**
 * Plural names of the namespaced kinds that every Kubernetes since 1.23 has, by `apiVersion` and kind. Each use saves a
 * discovery request.
 */
const IN_NAMESPACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: {
    ConfigMap: 'configmaps',
    Event: 'events',
    PersistentVolumeClaim: 'persistentvolumeclaims',
    Pod: 'pods',
    Secret: 'secrets',
    Service: 'services',
    ServiceAccount: 'serviceaccounts',
  },
  'apps/v1': {
    DaemonSet: 'daemonsets',
    Deployment: 'deployments',
    ReplicaSet: 'replicasets',
    StatefulSet: 'statefulsets',
  },
  'autoscaling/v1': { HorizontalPodAutoscaler: 'horizontalpodautoscalers' },
  'autoscaling/v2': { HorizontalPodAutoscaler: 'horizontalpodautoscalers' },
  'batch/v1': { CronJob: 'cronjobs', Job: 'jobs' },
  'coordination.k8s.io/v1': { Lease: 'leases' },
  'networking.k8s.io/v1': { Ingress: 'ingresses', NetworkPolicy: 'networkpolicies' },
  'rbac.authorization.k8s.io/v1': { Role: 'roles', RoleBinding: 'rolebindings' },
}

const OF_THE_CLUSTER: Readonly<Record<string, string>> = {
  'v1 Namespace': 'namespaces',
  'authorization.k8s.io/v1 SelfSubjectAccessReview': 'selfsubjectaccessreviews',
  'storage.k8s.io/v1 StorageClass': 'storageclasses',
}

/** Returns the resource of a built-in kind, without a request; undefined for any other kind. */
export function builtInKind(apiVersion: string, kind: string): Resource | undefined {
  const name = IN_NAMESPACES[apiVersion]?.[kind]
  if (name !== undefined) return { name, namespaced: true }
  const whole = OF_THE_CLUSTER[`${apiVersion} ${kind}`]
  return whole === undefined ? undefined : { name: whole, namespaced: false }
}
