import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, RUNS_NAMESPACE, USERS_NAMESPACE } from '../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-events'

/**
 * People and runs write no events: no quota counts them, so one namespace could fill the database of the whole cluster
 * with them. Controllers and nodes write those that there are.
 */
export const eventsPolicy = (): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [resourceRule(['', 'events.k8s.io'], ['events'], ['CREATE', 'UPDATE'])],
    },
    matchConditions: [
      {
        name: 'member',
        expression: [USERS_NAMESPACE, RUNS_NAMESPACE]
          .map(one => `request.userInfo.username.startsWith('system:serviceaccount:${one}:')`)
          .join(' || '),
      },
    ],
    validations: [{ expression: 'false', message: 'events are written by controllers and nodes only' }],
  })
