/** The namespaces of the platform; users have no rights in them (design, section 2). */
export const PLATFORM_NAMESPACE = 'devctl-platform'
export const USERS_NAMESPACE = 'devctl-users'
export const RUNS_NAMESPACE = 'devctl-runs'
export const BUILD_NAMESPACE = 'devctl-build'

/** The server's port for runs only: there it trusts no `X-Forwarded-For`. */
export const RUNS_PORT = 8081
/**
 * The address of the server for the Pods of runs; a certificate that is only valid outside of the cluster does not
 * matter to them.
 */
export const RUNS_ADDRESS = `http://platform.${PLATFORM_NAMESPACE}.svc:${RUNS_PORT}`

/** The Secrets of `devctl-build` and `devctl-platform` with which builders and the server authenticate. */
export const BUILDERS_SECRET = 'builders'
/**
 * The Secrets for the builders of untrusted code, such as that of forks: their credentials give no access to the other
 * builders.
 */
export const UNTRUSTED_BUILDERS_SECRET = 'untrusted-builders'

/** The Secret of `devctl-platform` with the client secrets of providers, by id. */
export const LOGIN_SECRET = 'login'

/** The Secret of `devctl-platform` with the signing key for tokens of the registry, and its certificate. */
export const REGISTRY_SECRET = 'registry'

/** The container that logs how full the disk of the bundled registry is. */
export const REGISTRY_DISK = { pod: 'registry-0', container: 'disk' } as const

/** The Secret of each namespace with its pull credentials. */
export const PULL_SECRET = 'devctl-registry'

/** The Secret of `devctl-platform` with the keys for sealing: `k1`, `k2` … */
export const KEYS_SECRET = 'keys'
/** The Lease of the leader, in `devctl-platform`. */
export const LEADER_LEASE = 'devctl-leader'
/** The account of the server, in `devctl-platform`. */
export const SERVER_ACCOUNT = 'platform'
/** The role of the server in each managed namespace. */
export const KEEPER = 'devctl-keeper'

/** The label that names the kind of a record, for lists. */
export const RECORD_LABEL = 'dev.platform/record'
/** The label of namespaces that the platform created: `true`. */
export const MANAGED_LABEL = 'dev.platform/managed'
export const USER_LABEL = 'dev.platform/user'

/**
 * The platform's network policies in each managed namespace: for all Pods, and for those without networks of their own.
 */
export const [ALL_PODS, INSIDE, OUTSIDE] = ['devctl', 'devctl-inside', 'devctl-outside'] as const
export const OWN_POLICIES: readonly string[] = [ALL_PODS, INSIDE, OUTSIDE]
/**
 * The label of Pods that the networks of their Compose file separate, written by the compiler. With `separate`, only
 * the policies of the file allow ingress; with `internal`, the same is true for egress.
 */
export const TRAFFIC_LABEL = 'dev.platform/traffic'
/** The group to which Kubernetes adds the accounts of all users. */
export const USERS_GROUP = `system:serviceaccounts:${USERS_NAMESPACE}`

/** The ServiceAccount with whose rights a person works. */
export const userAccount = (id: string): string => `u-${id}`
export const tokenSecret = (id: string): string => `t-${id}`

/** Formats times in records: without fractions of a second. */
export const rfc3339 = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')

/** The field manager of the platform's writes. */
export const MANAGER = 'devctl-platform'
