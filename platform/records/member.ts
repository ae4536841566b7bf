import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { clusterRoleOf, NAMESPACE_ROLES, type NamespaceRole } from '../rules/accounts/roles.ts'
import { isUserId } from '../rules/names.ts'
import {
  KEEPER,
  MANAGED_LABEL,
  PLATFORM_NAMESPACE,
  RECORD_LABEL,
  SERVER_ACCOUNT,
  USER_LABEL,
  USERS_GROUP,
  USERS_NAMESPACE,
  userAccount,
} from './names.ts'

/**
 * A user's role in a namespace. It is stored as a RoleBinding in that namespace, so there is no second list that could
 * disagree.
 */
export interface Member {
  readonly namespace: string
  readonly user: string
  readonly role: NamespaceRole
  /** UID of the RoleBinding, if it was read from the cluster. */
  readonly uid?: string
}

const ROLE_LABEL = 'dev.platform/role'
const RBAC = 'rbac.authorization.k8s.io'

/**
 * Returns the name of the RoleBinding. The name contains the role, because the `roleRef` of a RoleBinding is immutable.
 */
export const bindingName = ({ user, role }: Pick<Member, 'user' | 'role'>): string =>
  `devctl-${clusterRoleOf(role) === 'devctl-viewer' ? 'viewer' : 'developer'}-${userAccount(user)}`

export function fromMember(member: Member): KubeObject {
  const { namespace, user, role } = member
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: {
      name: bindingName(member),
      namespace,
      labels: { [MANAGED_LABEL]: 'true', [RECORD_LABEL]: 'member', [USER_LABEL]: user, [ROLE_LABEL]: role },
    },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: clusterRoleOf(role) },
    subjects: [{ kind: 'ServiceAccount', namespace: USERS_NAMESPACE, name: userAccount(user) }],
  }
}

/** Returns the RoleBinding that lets all users of the platform view a global namespace. */
export const everybodysBinding = (namespace: string): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'devctl-everybody', namespace, labels: { [MANAGED_LABEL]: 'true' } },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: clusterRoleOf('viewer') },
  subjects: [{ kind: 'Group', apiGroup: RBAC, name: USERS_GROUP }],
})

/**
 * Returns the RoleBinding that lets the platform put a namespace to sleep and wake it. The platform has no other rights
 * in the namespace.
 */
export const keeperBinding = (namespace: string): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name: KEEPER, namespace, labels: { [MANAGED_LABEL]: 'true' } },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: KEEPER },
  subjects: [{ kind: 'ServiceAccount', namespace: PLATFORM_NAMESPACE, name: SERVER_ACCOUNT }],
})

/**
 * Parses a RoleBinding. Returns undefined if the platform did not create it for a member. Also returns undefined if its
 * labels name another user or role than the RoleBinding itself, because only the actual rights count.
 */
export function toMember({ metadata, roleRef, subjects }: KubeObject): Member | undefined {
  const { namespace, labels = {} } = metadata
  const user = labels[USER_LABEL]
  const role = NAMESPACE_ROLES.find(one => one === labels[ROLE_LABEL])
  if (!namespace || !user || !isUserId(user) || !role || !Array.isArray(subjects) || subjects.length !== 1)
    return undefined
  const [subject] = subjects as readonly (Readonly<Record<string, unknown>> | null)[]
  const isTheirs = subject?.['name'] === userAccount(user) && subject['namespace'] === USERS_NAMESPACE
  const named = (roleRef as { readonly name?: unknown } | undefined)?.name
  if (!isTheirs || named !== clusterRoleOf(role)) return undefined
  return { namespace, user, role, ...(metadata.uid !== undefined && { uid: metadata.uid }) }
}
