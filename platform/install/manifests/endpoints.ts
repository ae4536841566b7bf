import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../../records/names.ts'
import { admissionPolicy, byMembers, resourceRule } from './admission.ts'

const NAME = 'devctl-endpoints'

/**
 * Returns the policy that prevents users and runs from writing the addresses of a Service. Otherwise an ingress
 * controller would route requests to the Pods of other users, past their network policies. In clusters that were
 * created before Kubernetes 1.22, the role `edit` may include this permission (CVE-2021-25740).
 */
export const endpointsPolicy = (): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [
        resourceRule([''], ['endpoints'], ['CREATE', 'UPDATE']),
        resourceRule(['discovery.k8s.io'], ['endpointslices'], ['CREATE', 'UPDATE']),
      ],
    },
    matchConditions: [byMembers],
    validations: [
      {
        expression: 'false',
        message: 'the addresses of a Service can only be those of the Pods that it selects: give it a `selector`',
      },
    ],
  })
