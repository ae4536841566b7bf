import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { RUNS_NAMESPACE, USERS_NAMESPACE } from '../../records/names.ts'

const API_VERSION = 'admissionregistration.k8s.io/v1'

/** The contents of a policy except its name: resources, conditions and rules, as Kubernetes defines them. */
export interface AdmissionSpec {
  readonly matchConstraints: object
  readonly matchConditions?: readonly object[]
  readonly variables?: readonly { readonly name: string; readonly expression: string }[]
  readonly validations: readonly {
    readonly expression: string
    readonly message: string
    readonly messageExpression?: string
  }[]
}

/**
 * Returns an admission policy and its binding for the whole cluster. The API server denies a request that breaks one of
 * the policy's rules, or for which a rule cannot be evaluated.
 */
export const admissionPolicy = (name: string, spec: AdmissionSpec): readonly KubeObject[] => [
  {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { failurePolicy: 'Fail', ...spec },
  },
  {
    apiVersion: API_VERSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  },
]

/** Returns a rule that selects some resources of an API group. */
export const resourceRule = (
  apiGroups: readonly string[],
  resources: readonly string[],
  operations: readonly string[],
): object => ({ apiGroups, apiVersions: ['*'], operations, resources })

/**
 * Condition that a request comes from a user of the platform or from a run. It excludes requests of controllers,
 * operators and the platform itself.
 */
export const byMembers = {
  name: 'member',
  expression: [USERS_NAMESPACE, RUNS_NAMESPACE]
    .map(one => `request.userInfo.username.startsWith('system:serviceaccount:${one}:')`)
    .join(' || '),
}
