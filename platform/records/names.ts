/** The namespaces of the platform; users have no rights in any of them (design, section 2). */
export const PLATFORM_NAMESPACE = 'devctl-platform'
export const USERS_NAMESPACE = 'devctl-users'
export const RUNS_NAMESPACE = 'devctl-runs'
export const BUILD_NAMESPACE = 'devctl-build'

/** The port of the server that is for runs alone: there it believes nobody that a request comes from somewhere else. */
export const RUNS_PORT = 8081
/** Where the Pods of runs reach the server: a certificate of the cluster's own is nothing to them. */
export const RUNS_ADDRESS = `http://platform.${PLATFORM_NAMESPACE}.svc:${RUNS_PORT}`

/** The Secrets of `devctl-build` and `devctl-platform` by which builders and the server know each other. */
export const BUILDERS_SECRET = 'builders'

/** The Secret of `devctl-platform` with the client secrets of providers, by their id. */
export const LOGIN_SECRET = 'login'

/** The Secret of `devctl-platform` with the key for tokens of the registry, and its certificate. */
export const REGISTRY_SECRET = 'registry'

/** What writes into its log how full the disk of the registry is that comes with a platform. */
export const REGISTRY_DISK = { pod: 'registry-0', container: 'disk' } as const

/** The Secret of each namespace by which its Pods pull. */
export const PULL_SECRET = 'devctl-registry'

/** The Secret of `devctl-platform` with the keys that seal: `k1`, `k2` … */
export const KEYS_SECRET = 'keys'
/** The Lease of the replica that leads, in `devctl-platform`. */
export const LEADER_LEASE = 'devctl-leader'
/** The server's own account, in `devctl-platform`. */
export const SERVER_ACCOUNT = 'platform'
/** The role of the server in each managed namespace. */
export const KEEPER = 'devctl-keeper'

/** Says what a record is, and lets it be listed. */
export const RECORD_LABEL = 'dev.platform/record'
/** On namespaces that the platform made: `true`. */
export const MANAGED_LABEL = 'dev.platform/managed'
export const USER_LABEL = 'dev.platform/user'

/** The platform's own network policies in each managed namespace: what holds for all Pods, and for those of no network of their own. */
export const [ALL_PODS, INSIDE, OUTSIDE] = ['devctl', 'devctl-inside', 'devctl-outside'] as const
export const OWN_POLICIES: readonly string[] = [ALL_PODS, INSIDE, OUTSIDE]
/**
 * On Pods that networks of their Compose file separate, as the compiler writes it: `separate` lets in
 * only what the policies of the file let in, and `internal` also lets out only there.
 */
export const TRAFFIC_LABEL = 'dev.platform/traffic'
/** The group that Kubernetes puts the accounts of all users into. */
export const USERS_GROUP = `system:serviceaccounts:${USERS_NAMESPACE}`

/** The ServiceAccount with whose rights a person works. */
export const userAccount = (id: string): string => `u-${id}`
export const tokenSecret = (id: string): string => `t-${id}`

/** The form of times in records: without fractions of a second. */
export const rfc3339 = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')

/** The field manager of what the platform writes. */
export const MANAGER = 'devctl-platform'
