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
  /** Environments get hosts below it. */
  readonly domain: string
  /** The address of the platform: `https://platform.dev.example.com`. */
  readonly url: string
  /** The address of the API server for programs of users. */
  readonly kubernetes: Info['kubernetes']
  /** The number of namespaces that a developer may own. */
  readonly namespacesPerUser: number
  /** The number of previews that a developer, or the jobs of a repository, may own. */
  readonly previewsPerUser: number
  /** The ways to log in, besides links. */
  readonly providers: readonly ProviderSettings[]
  /** Networks of the cluster itself, which namespaces cannot reach. */
  readonly clusterNetworks: readonly string[]
  /** Private networks outside of the cluster, which namespaces can reach. */
  readonly privateNetworks: readonly string[]
  /** Limits of each namespace that extend or replace the defaults, as in a ResourceQuota. */
  readonly quota?: Readonly<Record<string, string>>
  /** CI systems whose jobs get tokens. */
  readonly ci: readonly CiTrust[]
  /** Forges whose webhooks are accepted, besides the public ones and those that people log in with. */
  readonly forges: readonly ForgeServer[]
  /** Addresses and networks of proxies in front of the server, whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** When namespaces are put to sleep, and deleted. */
  readonly idleness: Idleness
  /** Absent: none. */
  readonly builders?: BuilderSettings
  /** The registry for images of users: a host, perhaps with a path. The name of the namespace follows. */
  readonly registry?: string
  /** The registry accepts tokens that the platform signs. */
  readonly registryTokens?: boolean
  /** The part of the registry's disk, from 0 to 1, that images of one person's namespaces may use. */
  readonly registryShare?: number
  /** Absent: there is no image for runs. */
  readonly runs?: RunSettings
}

/** Settings for deploys and destroys that run in the cluster. */
export interface RunSettings {
  readonly image: string
  /** The address of the platform for Pods. */
  readonly url: string
  /** Concurrent runs: of one user, and in total. */
  readonly perUser: number
  readonly inAll: number
  /** The seconds that one run may take. */
  readonly deadline: number
}

/** The surroundings of the server. Tests have their own clock and random bytes. */
export interface ServerContext {
  /** The cluster, with the rights of the platform's own account: for records, and for the leader. */
  readonly cluster: Cluster
  /** Returns the cluster with the tokens of another account; `who` is used in messages. */
  clusterAs(token: (fresh: boolean) => Promise<string>, who: string): Cluster
  readonly settings: Settings
  /** A hash of the installed settings: `platform install` recognizes the server that it has just started. */
  readonly settingsHash?: string
  readonly version: string
  /** The platform's client secret at a provider; read every time, because it can be replaced. */
  clientSecret(provider: string): string | undefined
  /** Seals secrets that are stored in records or cookies. */
  readonly sealing: Sealing
  /** Absent: the registry accepts no tokens of the platform. */
  readonly registryKey?: RegistryKey
  /**
   * Returns true if requests for a host reach this platform, undefined if there is no response; absent: this cannot be
   * checked.
   */
  leadsHere?(host: string, signal?: AbortSignal): Promise<boolean | undefined>
  /** Milliseconds since 1970. */
  now(): number
  random(bytes: number): Buffer
  /** Writes a line of the audit log. */
  audit(line: AuditLine): void
  /** Writes a line of the log: the server's own activity, and its failures. */
  log(line: ServerLogLine): void
}

/** A message of the server for its operators; it contains no secret. */
export interface ServerLogLine {
  readonly time: string
  readonly text: string
}

/** A request that changed something, or tried to. */
export interface AuditLine {
  readonly time: string
  /** The operation of the route: `create namespace`. */
  readonly action: string
  /** The id of a user; absent before a login. */
  readonly user?: string
  readonly token?: string
  readonly what?: Readonly<Record<string, string>>
  /** The HTTP status. */
  readonly status: number
}
