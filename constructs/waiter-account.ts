import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import { Construct } from 'constructs'
import type { Environment, ObjectPlan } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'

/** The right of a workload's Pods to look at the Jobs that they wait for, and at nothing else. */
export class WaiterAccount extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { plan, environment, jobs }: { plan: ObjectPlan; environment: Environment; jobs: readonly string[] },
  ) {
    super(scope, id)
    const metadata = objectMeta(plan, environment)
    const { name } = plan
    // No Pod gets the token by default: the init container that needs it has it projected.
    new k8s.KubeServiceAccount(this, 'account', { metadata, automountServiceAccountToken: false })
    new k8s.KubeRole(this, 'role', {
      metadata,
      rules: [
        {
          apiGroups: ['batch'],
          resources: ['jobs'],
          resourceNames: [...jobs],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    })
    new k8s.KubeRoleBinding(this, 'binding', {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name }],
    })
  }
}
