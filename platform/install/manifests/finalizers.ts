import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../../records/names.ts'
import { CLAIM_FINALIZER, COLLECTED } from '../../rules/finalizers.ts'
import { admissionPolicy, byMembers, resourceRule } from './admission.ts'

const NAME = 'devctl-finalizers'

/**
 * Returns the policy that allows users and runs to add only finalizers that Kubernetes itself removes. With any other
 * finalizer, an object and its namespace stay until some program removes the finalizer. The policy does not limit
 * controllers.
 */
export const finalizersPolicy = (): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [resourceRule(['*'], ['*/*'], ['CREATE', 'UPDATE'])],
    },
    matchConditions: [byMembers],
    variables: [
      {
        name: 'known',
        expression: `[${COLLECTED.map(one => `'${one}'`).join(', ')}] + (request.resource.group == '' && request.resource.resource == 'persistentvolumeclaims' ? ['${CLAIM_FINALIZER}'] : [])`,
      },
      {
        name: 'before',
        expression: 'oldObject == null ? [] : oldObject.?metadata.?finalizers.orValue([])',
      },
      {
        name: 'added',
        expression:
          'object == null ? [] : object.?metadata.?finalizers.orValue([]).filter(f, !(f in variables.known) && !(f in variables.before))',
      },
    ],
    validations: [
      {
        expression: 'variables.added.size() == 0',
        message: 'a finalizer here may only be one of Kubernetes',
        messageExpression:
          "'the finalizer ' + variables.added.join(', ') + ' cannot be set here, because nobody could delete the namespace until something removes it: leave it out'",
      },
    ],
  })
