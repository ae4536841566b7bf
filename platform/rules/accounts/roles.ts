/** A user's role on the platform. */
export const PLATFORM_ROLES = ['admin', 'developer'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

/** A user's role in a namespace. */
export const NAMESPACE_ROLES = ['owner', 'developer', 'viewer'] as const
export type NamespaceRole = (typeof NAMESPACE_ROLES)[number]

/**
 * Actions that users perform on a namespace through the platform. The API server decides about access to the objects in
 * the namespace.
 */
export type NamespaceAction =
  | 'see'
  | 'pull'
  | 'deploy'
  | 'wake'
  | 'sleep'
  | 'share'
  | 'variables'
  | 'delete'
  | 'transfer'

const ALLOWED: Readonly<Record<NamespaceRole, ReadonlySet<NamespaceAction>>> = {
  viewer: new Set(['see', 'pull', 'wake']),
  developer: new Set(['see', 'pull', 'wake', 'sleep', 'deploy', 'variables']),
  owner: new Set(['see', 'pull', 'wake', 'sleep', 'deploy', 'variables', 'share', 'delete']),
}
/**
 * Actions that administrators may perform in namespaces of other users. Administrators can manage these namespaces, but
 * cannot read the secrets in them.
 */
const ADMIN: ReadonlySet<NamespaceAction> = new Set(['see', 'wake', 'sleep', 'share', 'delete', 'transfer'])

export interface Relation {
  readonly platform: PlatformRole
  /** Role in the namespace; undefined for users who are not members. */
  readonly namespace: NamespaceRole | undefined
}

export const mayDo = ({ platform, namespace }: Relation, action: NamespaceAction): boolean =>
  (namespace !== undefined && ALLOWED[namespace].has(action)) || (platform === 'admin' && ADMIN.has(action))

/** Returns the ClusterRole for a role in a namespace (design, section 3). */
export const clusterRoleOf = (role: NamespaceRole): string => (role === 'viewer' ? 'devctl-viewer' : 'devctl-developer')
