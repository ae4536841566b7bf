/** The namespaces of the platform. Users have no rights in these namespaces (design, section 2). */
export const PLATFORM_NAMESPACE = 'devctl-platform'
export const USERS_NAMESPACE = 'devctl-users'
export const RUNS_NAMESPACE = 'devctl-runs'
export const BUILD_NAMESPACE = 'devctl-build'

/** Port of the server that only runs use. On this port, `X-Forwarded-For` is not trusted. */
export const RUNS_PORT = 8081
/**
 * Address of the server for the Pods of runs. It uses HTTP inside the cluster, so runs work even if the certificate of
 * the platform is valid only outside the cluster.
 */
export const RUNS_ADDRESS = `http://platform.${PLATFORM_NAMESPACE}.svc:${RUNS_PORT}`

/**
 * Name of the Secrets in `devctl-build` and `devctl-platform` with the certificates that the builders and the server
 * authenticate with.
 */
export const BUILDERS_SECRET = 'builders'
/**
 * Name of the Secrets with the certificates for the builders of untrusted code, such as code of forks. These
 * certificates give no access to the other builders.
 */
export const UNTRUSTED_BUILDERS_SECRET = 'untrusted-builders'

/** Name of the Secret in `devctl-platform` with the client secrets of identity providers, by provider id. */
export const LOGIN_SECRET = 'login'

/** Name of the Secret in `devctl-platform` with the key that signs registry tokens, and its certificate. */
export const REGISTRY_SECRET = 'registry'

/** The container that logs the disk usage of the bundled registry. */
export const REGISTRY_DISK = { pod: 'registry-0', container: 'disk' } as const

/** Name of the Secret with the pull credentials in each namespace. */
export const PULL_SECRET = 'devctl-registry'

/** Name of the Secret in `devctl-platform` with the sealing keys `k1`, `k2` and so on. */
export const KEYS_SECRET = 'keys'
/** Name of the leader's Lease in `devctl-platform`. */
export const LEADER_LEASE = 'devctl-leader'
/** ServiceAccount of the server, in `devctl-platform`. */
export const SERVER_ACCOUNT = 'platform'
/** Role that the server has in each managed namespace. */
export const KEEPER = 'devctl-keeper'

/** Label with the kind of a record, for label selectors. */
export const RECORD_LABEL = 'dev.platform/record'
/** Label of namespaces that the platform created; its value is `true`. */
export const MANAGED_LABEL = 'dev.platform/managed'
export const USER_LABEL = 'dev.platform/user'

/**
 * Names of the platform's network policies in each managed namespace: one for all Pods, and two for Pods that are not
 * separated by Compose networks.
 */
export const [ALL_PODS, INSIDE, OUTSIDE] = ['devctl', 'devctl-inside', 'devctl-outside'] as const
export const OWN_POLICIES: readonly string[] = [ALL_PODS, INSIDE, OUTSIDE]
/**
 * Label that the compiler sets on Pods that are separated by the networks of their Compose file. With the value
 * `separate`, ingress is allowed only by the policies of that file. With `internal`, the same applies to egress, too.
 */
export const TRAFFIC_LABEL = 'dev.platform/traffic'
/** The group to which Kubernetes adds the ServiceAccounts of all users. */
export const USERS_GROUP = `system:serviceaccounts:${USERS_NAMESPACE}`

/** Returns the name of the ServiceAccount whose rights a user has. */
export const userAccount = (id: string): string => `u-${id}`
export const tokenSecret = (id: string): string => `t-${id}`

/** Formats a time for records, without fractions of a second. */
export const rfc3339 = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')

/** Field manager of the platform's writes. */
export const MANAGER = 'devctl-platform'
