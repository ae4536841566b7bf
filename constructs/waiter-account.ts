import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import { Construct } from 'constructs'
import type { Environment, ObjectPlan } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'

/** The plan of a waiter account, and the names of the Jobs that Pods wait for. */
interface Waiting {
  readonly plan: ObjectPlan
  readonly environment: Environment
  readonly jobs: readonly string[]
  /** Names of other ServiceAccounts with which Pods wait for the Jobs. */
  readonly accounts: readonly string[]
}

/** An account that lets a workload's Pods read only the Jobs that they wait for. */
export class WaiterAccount extends Construct {
  constructor(scope: Construct, id: string, waiting: Waiting) {
    super(scope, id)
    const { account, role, binding } = accountProps(waiting)
    new k8s.KubeServiceAccount(this, 'account', account)
    new k8s.KubeRole(this, 'role', role)
    new k8s.KubeRoleBinding(this, 'binding', binding)
  }
}

/** Returns the JSON of the ServiceAccount, the Role and the RoleBinding, without a chart. */
export function waiterAccountJson(waiting: Waiting): object[] {
  const { account, role, binding } = accountProps(waiting)
  return [k8s.KubeServiceAccount.manifest(account), k8s.KubeRole.manifest(role), k8s.KubeRoleBinding.manifest(binding)]
}

function accountProps({ plan, environment, jobs, accounts }: Waiting) {
  const metadata = objectMeta(plan, environment)
  const { name } = plan
  const { namespace } = environment
  return {
    // Pods do not mount the token by default. The init container that needs it uses a projected volume.
    account: { metadata, automountServiceAccountToken: false },
    role: {
      metadata,
      rules: [{ apiGroups: ['batch'], resources: ['jobs'], resourceNames: [...jobs], verbs: ['get', 'list', 'watch'] }],
    },
    binding: {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      // Kubernetes does not need the namespace here, but kustomize rewrites it if it moves the account.
      subjects: [name, ...accounts].map(account => ({
        kind: 'ServiceAccount',
        name: account,
        ...(namespace !== undefined && { namespace }),
      })),
    },
  }
}
