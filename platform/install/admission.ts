import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

const API_VERSION = 'admissionregistration.k8s.io/v1'

/** What a policy says besides that it refuses: resources, conditions and rules, as Kubernetes defines them. */
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

/** A policy of the API server that refuses what breaks one of its rules, and what it cannot judge; in force everywhere. */
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

/** A rule about some resources of an API group. */
export const resourceRule = (
  apiGroups: readonly string[],
  resources: readonly string[],
  operations: readonly string[],
): object => ({ apiGroups, apiVersions: ['*'], operations, resources })
