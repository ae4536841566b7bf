import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import type { Info } from '../api/info.ts'
import type { CiTrust } from '../rules/ci-trust.ts'
import type { ForgeServer } from '../rules/forge-servers.ts'
import type { Idleness } from '../rules/idleness.ts'
import type { ProviderSettings } from '../rules/provider.ts'
import type { BuilderSettings } from './builds/builder-settings.ts'
import type { RegistryKey } from './registry/registry-key.ts'
import type { Sealing } from './sealed.ts'

/** What the platform is set up with. */
export interface Settings {
  /** Environments get their hosts under it. */
  readonly domain: string
  /** Where people reach the platform: `https://platform.dev.example.com`. */
  readonly url: string
  /** The API server as people's programs reach it. */
  readonly kubernetes: Info['kubernetes']
  /** Namespaces that a developer may own. */
  readonly namespacesPerUser: number
  /** Previews that a developer, or the jobs of a repository, may own. */
  readonly previewsPerUser: number
  /** How people log in, besides links. */
  readonly providers: readonly ProviderSettings[]
  /** Networks of the cluster itself, which nothing in a namespace reaches. */
  readonly clusterNetworks: readonly string[]
  /** Limits of each namespace, besides those that there are or instead of them, as a ResourceQuota has them. */
  readonly quota?: Readonly<Record<string, string>>
  /** CI systems whose jobs get tokens. */
  readonly ci: readonly CiTrust[]
  /** Servers of repositories whose webhooks are taken, besides the public ones and those by which people log in. */
  readonly forges: readonly ForgeServer[]
  /** Addresses and networks of proxies before the server, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
  /** When namespaces sleep, and are deleted. */
  readonly idleness: Idleness
  /** Absent: none. */
  readonly builders?: BuilderSettings
  /** Of the images of people: a host, perhaps with a path. Their names go on with that of a namespace. */
  readonly registry?: string
  /** It believes tokens that the platform signs. */
  readonly registryTokens?: boolean
  /** Of the disk of the platform's own registry: what images of one person's namespaces may take, from 0 to 1. */
  readonly registryShare?: number
  /** Absent: there is no image that runs could run in. */
  readonly runs?: RunSettings
}

/** How deploys and destroys run in the cluster. */
export interface RunSettings {
  readonly image: string
  /** Where a Pod reaches the platform. */
  readonly url: string
  /** At the same time: of one user, and of all. */
  readonly perUser: number
  readonly inAll: number
  /** Seconds that one may take. */
  readonly deadline: number
}

/** What the server stands on. Tests have a clock and random bytes of their own. */
export interface PlatformWorld {
  /** With the rights of the platform's own account: records, and what the leader does. */
  readonly cluster: Cluster
  /** The same cluster with the tokens of somebody else; `who` is for messages. */
  clusterAs(token: (fresh: boolean) => Promise<string>, who: string): Cluster
  readonly settings: Settings
  readonly version: string
  /** What the platform proves itself with at a provider; read again each time, as it can be replaced. */
  clientSecret(provider: string): string | undefined
  /** For secrets that are kept in records, or in cookies. */
  readonly sealing: Sealing
  /** Absent: the registry takes no tokens of the platform. */
  readonly registryKey?: RegistryKey
  /** Whether requests for a host come to this platform, undefined if nobody answers; absent: that cannot be asked. */
  leadsHere?(host: string, signal?: AbortSignal): Promise<boolean | undefined>
  /** Milliseconds since 1970. */
  now(): number
  random(bytes: number): Buffer
  /** Writes a line of the audit. */
  audit(line: AuditLine): void
  /** Writes a line of the log: what the server does by itself, and what goes wrong with it. */
  log(line: ServerLogLine): void
}

/** Something that the server has to say to its operators; no secret is in it. */
export interface ServerLogLine {
  readonly time: string
  readonly text: string
}

/** One request that changed something, or tried to. */
export interface AuditLine {
  readonly time: string
  /** The word of the route: `create namespace`. */
  readonly action: string
  /** The id of a user; absent before a login. */
  readonly user?: string
  readonly token?: string
  readonly what?: Readonly<Record<string, string>>
  /** The HTTP status. */
  readonly status: number
}
