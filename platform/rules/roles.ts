/** What somebody is on the platform. */
export const PLATFORM_ROLES = ['admin', 'developer'] as const
export type PlatformRole = (typeof PLATFORM_ROLES)[number]

/** What somebody is in a namespace. */
export const NAMESPACE_ROLES = ['owner', 'developer', 'viewer'] as const
export type NamespaceRole = (typeof NAMESPACE_ROLES)[number]

/** What can be done with a namespace through the platform; what is in it the API server decides about. */
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
/** What administrators may do in namespaces that they are no members of: keep order, and read nobody's secrets. */
const ADMIN: ReadonlySet<NamespaceAction> = new Set(['see', 'wake', 'sleep', 'share', 'delete', 'transfer'])

export interface Relation {
  readonly platform: PlatformRole
  /** Undefined: no member. */
  readonly namespace: NamespaceRole | undefined
}

export const mayDo = ({ platform, namespace }: Relation, action: NamespaceAction): boolean =>
  (namespace !== undefined && ALLOWED[namespace].has(action)) || (platform === 'admin' && ADMIN.has(action))

/** The ClusterRole whose rights somebody has in a namespace (design, section 3). */
export const clusterRoleOf = (role: NamespaceRole): string => (role === 'viewer' ? 'devctl-viewer' : 'devctl-developer')
