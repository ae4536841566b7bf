import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import {
  KEEPER,
  MANAGED_LABEL,
  PLATFORM_NAMESPACE,
  PULL_SECRET,
  RUNS_NAMESPACE,
  USERS_GROUP,
  USERS_NAMESPACE,
} from '../../records/names.ts'
import { clusterRoleOf, NAMESPACE_ROLES } from '../../rules/accounts/roles.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-platform-fence'

/**
 * Returns the admission policy for the platform's own account. The API server denies these requests whatever the
 * account's roles allow, so a compromised server cannot get out of the namespaces that it has created (design, section
 * 3).
 */
export function fence(account: string): readonly KubeObject[] {
  const user = `system:serviceaccount:${PLATFORM_NAMESPACE}:${account}`
  const own = [USERS_NAMESPACE, RUNS_NAMESPACE].map(name => `'${name}'`).join(', ')
  const isManaged = (object: string) =>
    `has(${object}.metadata.labels) && '${MANAGED_LABEL}' in ${object}.metadata.labels && ${object}.metadata.labels['${MANAGED_LABEL}'] == 'true'`
  const isNamespace = "request.resource.group == '' && request.resource.resource == 'namespaces'"
  // The Lease of the leader election. All other objects in the server's namespace belong to the operator.
  const isLease = `request.namespace == '${PLATFORM_NAMESPACE}' && request.resource.group == 'coordination.k8s.io'`
  return admissionPolicy(NAME, {
    matchConstraints: {
      resourceRules: [resourceRule(['*'], ['*/*'], ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])],
    },
    matchConditions: [{ name: 'platform', expression: `request.userInfo.username == '${user}'` }],
    validations: [
      {
        expression: `!(${isNamespace}) || ((object == null || (${isManaged('object')})) && (oldObject == null || (${isManaged('oldObject')})))`,
        message: 'the platform may create, change and delete only its own namespaces',
      },
      {
        expression: `(${isNamespace}) || (${isLease}) || request.namespace in [${own}] || (has(namespaceObject.metadata) && ${isManaged('namespaceObject')})`,
        message: 'the platform may write only in its own and in managed namespaces',
      },
      {
        // The account could create a namespace whose Pods become root on nodes if this rule were missing.
        expression: `!(${isNamespace}) || object == null || object.metadata.labels.all(k, !k.startsWith('pod-security.kubernetes.io/') || (k == 'pod-security.kubernetes.io/enforce' && object.metadata.labels[k] in ['baseline', 'restricted']))`,
        message: 'the platform may not create a namespace for privileged Pods',
      },
      {
        expression: `!(${isNamespace}) || object == null || 'pod-security.kubernetes.io/enforce' in object.metadata.labels`,
        message: 'a namespace of the platform needs a Pod Security level',
      },
      {
        // The account may not bind other roles of the platform: this policy does not apply to an account that gets such
        // a role, which could change the Pod Security level of its namespace. In the namespaces of runs and users,
        // members have no such rights.
        expression: `!(request.resource.group == 'rbac.authorization.k8s.io' && request.resource.resource == 'rolebindings') || !(request.namespace in [${own}]) && (object == null || object.roleRef.kind == 'ClusterRole' && object.?subjects.orValue([]).all(s, ${toMembers(own)} || ${TO_EVERYBODY} || ${toItself(account)}))`,
        message: 'the platform may grant only the rights of members, to its users and runs, in managed namespaces',
      },
      {
        // The policies of the platform's own namespaces belong to the operator: they keep runs, which execute untrusted
        // code, away from the cluster.
        expression: `!(request.resource.group == 'networking.k8s.io' && request.resource.resource == 'networkpolicies') || !(request.namespace in [${own}])`,
        message: 'the platform may not change the network policies of its runs',
      },
      ...pullOnly(own),
      ...sleepOnly(),
    ],
  })
}

const toMembers = (own: string): string =>
  `s.kind == 'ServiceAccount' && s.?namespace.orValue('') in [${own}] && object.roleRef.name in [${NAMESPACE_ROLES.map(role => `'${clusterRoleOf(role)}'`).join(', ')}]`
const TO_EVERYBODY = `s.kind == 'Group' && s.name == '${USERS_GROUP}' && object.roleRef.name == '${clusterRoleOf('viewer')}'`
const toItself = (account: string): string =>
  `s.kind == 'ServiceAccount' && s.?namespace.orValue('') == '${PLATFORM_NAMESPACE}' && s.name == '${account}' && object.roleRef.name == '${KEEPER}'`

/**
 * Returns the rules that limit the account to pull credentials. By writing Secrets of another type, or annotations of a
 * ServiceAccount, the account could give code in a namespace permissions outside that namespace.
 */
const pullOnly = (own: string) => [
  {
    expression: `!(request.resource.group == '' && request.resource.resource == 'secrets') || request.namespace in [${own}] || (object != null && object.metadata.name == '${PULL_SECRET}' && object.type == 'kubernetes.io/dockerconfigjson')`,
    message: 'the platform may write no Secrets except pull credentials',
  },
  {
    expression: `!(request.resource.group == '' && request.resource.resource == 'serviceaccounts') || request.namespace in [${own}] || (request.?subResource.orValue('') == '' && object != null && object.metadata.name == 'default' && ${['annotations', 'labels', 'finalizers', 'ownerReferences'].map(field => `object.metadata.?${field}.orValue(null) == oldObject.?metadata.?${field}.orValue(null)`).join(' && ')} && object.?secrets.orValue(null) == oldObject.?secrets.orValue(null) && object.?automountServiceAccountToken.orValue(null) == oldObject.?automountServiceAccountToken.orValue(null))`,
    message: 'the platform may change only the pull credentials of a ServiceAccount',
  },
]

/** Fields of the spec and annotations that the platform may change to put a namespace to sleep, by resource. */
const SLEEP_FIELDS: Readonly<
  Record<string, { readonly spec: readonly string[]; readonly annotations: readonly string[] }>
> = {
  'apps/deployments': { spec: ['replicas'], annotations: [] },
  'apps/statefulsets': { spec: ['replicas', 'persistentVolumeClaimRetentionPolicy'], annotations: [] },
  'batch/cronjobs': { spec: ['suspend'], annotations: [] },
  'networking.k8s.io/ingresses': { spec: ['ingressClassName'], annotations: ['kubernetes.io/ingress.class'] },
  'keda.sh/scaledobjects': { spec: [], annotations: ['autoscaling.keda.sh/paused-replicas'] },
}

/**
 * Returns the rules that limit the account to the fields that sleep changes. By changing any other field, the account
 * could run code in a namespace, or redirect its routes.
 */
const sleepOnly = () =>
  Object.entries(SLEEP_FIELDS).map(([name, { spec, annotations }]) => {
    const [group, resource] = name.split('/')
    const isOther = `!(request.resource.group == '${group}' && request.resource.resource == '${resource}')`
    const same = [
      sameBut('spec', spec),
      sameBut('metadata.annotations', annotations),
      ...['labels', 'finalizers', 'ownerReferences'].map(sameMeta),
    ]
    return {
      expression: `${isOther} || (request.operation == 'UPDATE' && ${same.join(' && ')})`,
      message: `the platform may change only the fields of ${resource} that sleep uses`,
    }
  })

const sameMeta = (field: string): string =>
  `object.metadata.?${field}.orValue(null) == oldObject.metadata.?${field}.orValue(null)`

/** Returns CEL that is true if both maps have the same entries, except for some keys. */
function sameBut(path: string, free: readonly string[]): string {
  const [parts, keys] = [
    path
      .split('.')
      .map(one => `.?${one}`)
      .join(''),
    free.map(one => `'${one}'`).join(', '),
  ]
  const [now, before] = ['object', 'oldObject'].map(one => `${one}${parts}.orValue({})`)
  const within = (a: string, b: string) => `${a}.all(k, k in [${keys}] || (k in ${b} && ${a}[k] == ${b}[k]))`
  return `${within(now!, before!)} && ${within(before!, now!)}`
}
