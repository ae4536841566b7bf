import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, PLATFORM_NAMESPACE, RUNS_NAMESPACE, USERS_NAMESPACE } from '../records/names.ts'

const GROUP = 'admissionregistration.k8s.io/v1'
const NAME = 'devctl-platform-fence'

/**
 * What the API server refuses the platform's own account, whatever its roles allow: a server that was
 * broken into stays in the namespaces that it has made (design, section 3).
 */
export function fence(account: string): readonly KubeObject[] {
  const user = `system:serviceaccount:${PLATFORM_NAMESPACE}:${account}`
  const own = [USERS_NAMESPACE, RUNS_NAMESPACE].map(name => `'${name}'`).join(', ')
  const isManaged = (object: string) =>
    `has(${object}.metadata.labels) && '${MANAGED_LABEL}' in ${object}.metadata.labels && ${object}.metadata.labels['${MANAGED_LABEL}'] == 'true'`
  const isNamespace = "request.resource.group == '' && request.resource.resource == 'namespaces'"
  // By which one of its replicas leads; everything else beside the server is the operator's.
  const isLease = `request.namespace == '${PLATFORM_NAMESPACE}' && request.resource.group == 'coordination.k8s.io'`
  return [
    {
      apiVersion: GROUP,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: NAME },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['*'],
              apiVersions: ['*'],
              operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
              resources: ['*/*'],
            },
          ],
        },
        matchConditions: [{ name: 'platform', expression: `request.userInfo.username == '${user}'` }],
        validations: [
          {
            expression: `!(${isNamespace}) || ((object == null || (${isManaged('object')})) && (oldObject == null || (${isManaged('oldObject')})))`,
            message: 'the platform makes, changes and deletes only namespaces of its own',
          },
          {
            expression: `(${isNamespace}) || (${isLease}) || request.namespace in [${own}] || (has(namespaceObject.metadata) && ${isManaged('namespaceObject')})`,
            message: 'the platform writes only in its own and in managed namespaces',
          },
        ],
      },
    },
    {
      apiVersion: GROUP,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: NAME },
      spec: { policyName: NAME, validationActions: ['Deny'] },
    },
  ]
}
