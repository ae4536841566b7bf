import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../../records/names.ts'
import { admissionPolicy, byMembers, resourceRule } from './admission.ts'

const NAME = 'devctl-events'

/**
 * Returns the policy that prevents users and runs from writing events. No quota limits the number of events, so one
 * namespace could fill the database of the whole cluster. Controllers and nodes can still write events.
 */
export const eventsPolicy = (): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [resourceRule(['', 'events.k8s.io'], ['events'], ['CREATE', 'UPDATE'])],
    },
    matchConditions: [byMembers],
    validations: [{ expression: 'false', message: 'events are written by controllers and nodes only' }],
  })
