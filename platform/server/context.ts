import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import type { Info } from '../api/info.ts'
import type { CiTrust } from '../rules/accounts/ci-trust.ts'
import type { ProviderSettings } from '../rules/accounts/provider.ts'
import type { ForgeServer } from '../rules/forge-servers.ts'
import type { Idleness } from '../rules/runs/idleness.ts'
import type { BuilderSettings } from './builds/builder-settings.ts'
import type { Sealing } from './leader/sealed.ts'
import type { RegistryKey } from './registry/registry-key.ts'

/** The configuration of the platform. */
export interface Settings {
  /** Parent domain of the hosts of environments. */
  readonly domain: string
  /** URL of the platform, such as `https://platform.dev.example.com`. */
  readonly url: string
  /** Returns the headers that contain the status of a call, and omits all other headers. */
  readonly kubernetes: Info['kubernetes']
  /** Maximum number of namespaces that a developer may own. */
  readonly namespacesPerUser: number
  /** Maximum number of previews that a developer, or the jobs of a repository, may own. */
  readonly previewsPerUser: number
  /** Identity providers that users can log in with. Users can also log in with a setup link or an invitation. */
  readonly providers: readonly ProviderSettings[]
  /** Networks of the cluster itself, which Pods in namespaces cannot reach. */
  readonly clusterNetworks: readonly string[]
  /** Private networks outside the cluster that Pods in namespaces can reach. */
  readonly privateNetworks: readonly string[]
  /** Limits of each namespace, in the format of a ResourceQuota. They extend or replace the default limits. */
  readonly quota?: Readonly<Record<string, string>>
  /** CI systems whose jobs get platform tokens. */
  readonly ci: readonly CiTrust[]
  /** Forges whose webhooks are accepted, in addition to the public forges and the forges that users log in with. */
  readonly forges: readonly ForgeServer[]
  /** Addresses and networks of proxies in front of the server. `X-Forwarded-For` is trusted only from these proxies. */
  readonly trustedProxies: readonly string[]
  /** Idle times after which namespaces are put to sleep and deleted. */
  readonly idleness: Idleness
  /** Image builders of the platform; absent if it has none. */
  readonly builders?: BuilderSettings
  /**
   * The registry for users' images: a host, optionally with a path. The names of a namespace's images begin with this
   * address and the path of the namespace, such as `shop-1f2e3d4c`.
   */
  readonly registry?: string
  /** True if the registry accepts tokens that the platform signs. */
  readonly registryTokens?: boolean
  /** Share of the registry's disk, from 0 to 1, that images in one user's namespaces may use. */
  readonly registryShare?: number
  /** Settings of runs; absent if there is no image for runs. */
  readonly runs?: RunSettings
}

/** Settings for deploys and destroys that run in the cluster. */
export interface RunSettings {
  readonly image: string
  /** URL at which Pods reach the platform. */
  readonly url: string
  /** Maximum number of concurrent runs: of one user, and in total. */
  readonly perUser: number
  readonly inAll: number
  /** Maximum duration of a run in seconds. */
  readonly deadline: number
  /** True if the ConfigMap `ca` of `devctl-runs` has certificate authorities. */
  readonly hasAuthorities?: boolean
}

/** The dependencies of the server. Tests replace them, including the clock and the random bytes. */
export interface ServerContext {
  /**
   * Client for the cluster with the rights of the platform's own ServiceAccount, used for records and by the leader.
   */
  readonly cluster: Cluster
  /**
   * Returns a client for the cluster that uses the tokens of another account. `token` returns a token, which must not
   * be a cached one if `fresh` is true. `who` names the account in messages.
   */
  clusterAs(token: (fresh: boolean) => Promise<string>, who: string): Cluster
  readonly settings: Settings
  /** Certificate authorities of `platform install --ca`, as PEM. */
  readonly authorities?: string
  /** Hash of the settings. `platform install` uses it to recognize the server that it has just started. */
  readonly settingsHash?: string
  readonly version: string
  /**
   * Returns the platform's client secret at a provider; undefined if there is none. The secret is read on every call,
   * because it can be replaced.
   */
  clientSecret(provider: string): string | undefined
  /** Seals secrets that are stored in records or cookies. */
  readonly sealing: Sealing
  /** Key that signs registry tokens; absent if the registry accepts no tokens of the platform. */
  readonly registryKey?: RegistryKey
  /**
   * Returns true if requests for a host reach this platform, false if they reach another server, and undefined if there
   * is no response. The method is absent if this cannot be checked.
   */
  leadsHere?(host: string, signal?: AbortSignal): Promise<boolean | undefined>
  /** Returns the current time in milliseconds since 1970. */
  now(): number
  random(bytes: number): Buffer
  /** Writes a line of the audit log. */
  audit(line: AuditLine): void
  /** Writes a line about the server's own activity or a failure to the log. */
  log(line: ServerLogLine): void
}

/** A log line for the operators of the server; it contains no secret. */
export interface ServerLogLine {
  readonly time: string
  readonly text: string
}

/** An audit log entry for a request that changed something, or tried to. */
export interface AuditLine {
  readonly time: string
  /** The operation of the route, such as `create namespace`. */
  readonly action: string
  /** The id of a user; absent before the login. */
  readonly user?: string
  readonly token?: string
  readonly what?: Readonly<Record<string, string>>
  /** HTTP status code of the response. */
  readonly status: number
}
