import type { SecretPlaces } from '../text/secret-places.ts'
import type { At, Span } from '../text/source.ts'
import type { MapTree } from '../text/tree.ts'
import type { BuildCache } from '../values/images/build-cache.ts'
import type { BuildContext } from '../values/images/build-context.ts'
import type { FieldMap } from '../values/kubernetes/fields.ts'
import type { KubernetesMember } from '../values/kubernetes/members.ts'

/**
 * The typed content of the Compose files: merged, variables substituted, profiles applied, values parsed, paths
 * absolute. Kubernetes defaults and decisions are not part of it; they belong to the plan.
 */
export interface Project {
  /** Compose's project name, from an option, COMPOSE_PROJECT_NAME, `name` or the folder. */
  readonly name: string
  /** The position of the top-level `name`, if a file has it. */
  readonly nameSpan?: Span
  /** Set if a file, an option or COMPOSE_PROJECT_NAME sets the name. Otherwise the name is derived from the folder. */
  readonly isNamed?: true
  /** Absolute path of the project folder. Relative paths in the files are resolved against it. */
  readonly directory: string
  /** The active services, in source order. */
  readonly services: ReadonlyMap<string, Service>
  /**
   * Inactive services whose images the builds of active services use, directly or indirectly. Only the keys that
   * concern their images are read.
   */
  readonly contextServices: ReadonlyMap<string, Service>
  /** Services that are inactive or in error. They must not be reported as undefined. */
  readonly absentServices: ReadonlySet<string>
  /** Services that are not planned because of errors, but whose host paths are known and are checked. */
  readonly incompleteServices: readonly Service[]
  readonly networks: ReadonlyMap<string, Network>
  readonly volumes: ReadonlyMap<string, Volume>
  readonly secrets: ReadonlyMap<string, FileObject>
  readonly configs: ReadonlyMap<string, FileObject>
  readonly endpoints?: Endpoints
  /** Objects of the top-level `x-kubernetes`. */
  readonly objects: readonly WholeObject[]
  /** The canonical tree, including the keys of the dialect. */
  readonly tree: MapTree
  /**
   * The documents as written, in merge order: later documents take precedence. Documents of included and extended files
   * come first.
   */
  readonly documents: readonly MapTree[]
  /** Extensions of another tool, such as `x-okteto-liveness`. */
  readonly foreignKeys?: readonly Pair[]
  /** The known secret values and their positions. */
  readonly secretPlaces: SecretPlaces
}

/** A `KEY=value` pair. `span` is the position of the value, or of the key if there is no value. */
export interface Pair {
  readonly name: string
  readonly value: string
  readonly span: Span
  /** The position of the name. */
  readonly key?: Span
  /** Set if the value uses a secret variable. */
  readonly isSecret?: true
}

/** A variable whose value is an entry of the top-level `secrets` or `configs`; `value` is the key of the entry. */
export interface EntryVariable extends Pair {
  /** Key inside the object in the cluster, if the file chooses one. */
  readonly objectKey?: At<string>
}

/** A variable of a service whose value comes from a Secret. */
export interface SecretVariable {
  readonly name: string
  /** The value in the Compose files, if any. Only backends that encrypt values use it. */
  readonly value?: string
  readonly span: Span
}

/**
 * `x-autoscale`: the minimum and maximum number of Pods, and the target for their average use of CPU and memory, in
 * percent of their requests.
 */
export interface Autoscale {
  readonly span: Span
  readonly min: number
  readonly max: number
  readonly cpu?: At<number>
  readonly memory?: At<number>
  /** Position of a `scale` or `deploy.replicas` that has no effect. */
  readonly scale?: Span
}

/** `x-kubernetes` of a service, by member: the fields to add, as written, and the position of the member. */
export type KubernetesPieces = ReadonlyMap<KubernetesMember, { readonly span: Span; readonly tree: MapTree }>

/** An item of `objects` of the top-level `x-kubernetes`. */
export interface WholeObject {
  readonly kind: string
  readonly name: string
  readonly json: FieldMap
  readonly span: Span
}

/** `triggers` of a job: it runs on schedules, or only when a user starts it. */
export interface Triggers {
  readonly span: Span
  readonly schedules: readonly Schedule[]
}

/** An entry of `triggers.schedule`. */
export interface Schedule {
  readonly cron: string
  readonly timeZone?: string
  readonly concurrency?: 'forbid' | 'queue'
  readonly missedFires?: 'one' | 'skip'
}

/** An entry of `services` or `jobs`, after merging and parsing. */
export interface Service {
  readonly name: string
  /** The position of the service's key. */
  readonly span: Span
  /** The canonical tree of the service. */
  readonly tree: MapTree

  // image and process
  readonly image?: At<string>
  readonly build?: Build
  readonly pullPolicy?: At<string>
  readonly platform?: At<string>
  /** The command. An empty list clears the image's command; if absent, the image's command is used. */
  readonly command?: Words
  readonly entrypoint?: Words
  readonly workingDir?: At<string>
  /** Variables of `env_file` and `environment` that have a value, sorted by name. */
  readonly environment: readonly Pair[]
  /**
   * Variables whose values come from Secrets according to the environment's rules, sorted by name. They are not in
   * `environment`.
   */
  readonly secretEnvironment: readonly SecretVariable[]
  /** Variables whose values are entries of the top-level `secrets`, sorted by name; `value` is the key of the entry. */
  readonly variablesFromSecrets: readonly EntryVariable[]
  /** Variables whose values are entries of the top-level `configs`, sorted by name; `value` is the key of the entry. */
  readonly variablesFromConfigs: readonly EntryVariable[]
  /** Labels of `label_file` and `labels`, sorted by name. They become annotations. */
  readonly labels: readonly Pair[]
  readonly annotations: readonly Pair[]
  readonly init?: At<boolean>
  readonly user?: At<string>
  readonly groupAdd: readonly At<string>[]
  readonly stdinOpen: boolean
  readonly tty: boolean
  readonly stopGracePeriod?: At<Duration>
  readonly healthcheck?: Healthcheck
  readonly restart: Restart
  /** Number of containers; for an autoscaled service, the maximum number. */
  readonly scale?: At<number>
  readonly autoscale?: Autoscale
  readonly kubernetes?: KubernetesPieces
  /** Set for an entry of `jobs`. */
  readonly triggers?: Triggers
  readonly containerName?: At<string>
  readonly hostname?: At<string>
  readonly dependsOn: readonly Dependency[]
  readonly links: readonly Link[]
  readonly externalLinks: readonly Link[]
  readonly preStart: readonly Hook[]
  readonly postStart: readonly Hook[]
  readonly preStop: readonly Hook[]

  // network
  readonly ports: readonly Port[]
  /** Ports and protocols of `expose`, with ranges expanded. */
  readonly expose: readonly At<{ readonly port: number; readonly protocol: Protocol }>[]
  readonly networkMode?: At<string>
  readonly networks: readonly ServiceNetwork[]
  readonly dns: readonly At<string>[]
  readonly dnsSearch: readonly At<string>[]
  readonly dnsOpt: readonly At<string>[]
  readonly extraHosts: readonly { readonly host: string; readonly address: string; readonly span: Span }[]

  // storage
  readonly mounts: readonly Mount[]
  readonly tmpfs: readonly TmpfsEntry[]
  readonly volumesFrom: readonly At<string>[]
  readonly configs: readonly FileMount[]
  readonly secrets: readonly FileMount[]
  readonly shmSize?: At<bigint>

  // resources and placement
  readonly resources: Resources
  readonly gpus: readonly DeviceRequest[]
  readonly nodeSelector: readonly Pair[]
  readonly deploy: Deploy

  // isolation
  readonly capAdd: readonly At<string>[]
  readonly capDrop: readonly At<string>[]
  readonly privileged?: At<boolean>
  readonly readOnly?: At<boolean>
  readonly securityOpt: readonly At<string>[]
  readonly sysctls: readonly Pair[]
  readonly pid?: At<string>
  readonly ipc?: At<string>
  readonly uts?: At<string>
  readonly cgroup?: At<string>
  readonly runtime?: At<string>
  readonly devices: readonly {
    readonly source: string
    readonly target: string
    readonly permissions: string
    readonly span: Span
  }[]

  // used by the command line
  readonly attach: boolean
  /** The rules of `develop.watch`. */
  readonly watch: readonly WatchRule[]
}

/** The port protocols that Kubernetes supports. */
export type Protocol = 'TCP' | 'UDP' | 'SCTP'

/** A command as a list of arguments. */
export interface Words {
  readonly words: readonly string[]
  readonly span: Span
}

/** A duration in milliseconds, with fractions. */
export interface Duration {
  readonly milliseconds: number
}

/** `build` of a service. */
export interface Build {
  readonly span: Span
  /** The absolute path of a folder, or a URL. */
  readonly context: At<string>
  readonly dockerfile?: At<string>
  readonly dockerfileInline?: At<string>
  readonly target?: At<string>
  /** Build arguments, sorted by name. Arguments without a value in the file or the environment are left out. */
  readonly args: readonly Pair[]
  readonly additionalContexts: readonly NamedContext[]
  readonly cacheFrom: readonly At<BuildCache>[]
  readonly cacheTo: readonly At<BuildCache>[]
  /** An additional image that the cache is written to (`export_cache` of the dialect). */
  readonly exportCache?: At<string>
  readonly noCache: boolean
  readonly noCacheFilter: readonly At<string>[]
  readonly pull: boolean
  readonly secrets: readonly BuildSecretUse[]
  readonly ssh: readonly SshKey[]
  readonly labels: readonly Pair[]
  /** Additional names of the image. */
  readonly tags: readonly At<string>[]
  readonly platforms: readonly At<string>[]
  /** The network of the build. If absent, the builder's default. */
  readonly network?: At<'host' | 'none'>
  readonly extraHosts: Service['extraHosts']
  readonly shmSize?: At<bigint>
  /** Ulimits, sorted by name. A limit of -1 means unlimited. */
  readonly ulimits: readonly {
    readonly name: string
    readonly soft: number
    readonly hard: number
    readonly span: Span
  }[]
  /** Entitlements, including those that `privileged` and `network: host` imply. */
  readonly entitlements: readonly At<string>[]
  /** The parameters of an attestation, or false for no attestation. If absent, the builder's default. */
  readonly provenance?: At<string | false>
  readonly sbom?: At<string | false>
}

/** An entry of `additional_contexts`. */
export type NamedContext = BuildContext & { readonly name: string; readonly span: Span }

/** An entry of `build.secrets`. */
export interface BuildSecretUse {
  /** The ID under which the Dockerfile mounts the secret. */
  readonly id: string
  /** The key in the top-level `secrets`. */
  readonly source: string
  readonly span: Span
}

/** An entry of `build.ssh`. */
export interface SshKey {
  readonly id: string
  /** The absolute path of a key or socket. If absent, the SSH agent is used. */
  readonly path?: string
  readonly span: Span
}

/** `healthcheck` of a service. */
export interface Healthcheck {
  readonly span: Span
  /** The check. `none` stands for `disable: true` and for the test `NONE`. */
  readonly check:
    | { readonly kind: 'none' }
    | { readonly kind: 'exec'; readonly command: readonly string[]; readonly span: Span }
    | { readonly kind: 'shell'; readonly script: string; readonly span: Span }
    | { readonly kind: 'http'; readonly path: string; readonly port: number; readonly span: Span }
    /** Only timings are set. They apply to the image's own check, which Kubernetes does not support. */
    | { readonly kind: 'image' }
  readonly interval?: At<Duration>
  readonly timeout?: At<Duration>
  readonly startPeriod?: At<Duration>
  readonly startInterval?: At<Duration>
  readonly retries?: At<number>
  readonly readiness: At<boolean>
  readonly liveness: At<boolean>
}

/** The combined `restart` and `deploy.restart_policy`. `policy` is absent if neither is set. */
export interface Restart {
  readonly policy?: At<'always' | 'on-failure' | 'no'>
  /** The key that sets the policy. */
  readonly key?: 'restart' | 'deploy.restart_policy.condition'
  /** Maximum number of restart attempts, from `on-failure:N` or `max_attempts`. */
  readonly maxAttempts?: At<number>
}

/** An entry of `depends_on`. */
export interface Dependency {
  readonly service: string
  readonly condition: 'service_started' | 'service_healthy' | 'service_completed_successfully'
  readonly required: boolean
  readonly restart: boolean
  /** True if links, shared namespaces or volumes_from imply the dependency. */
  readonly implicit: boolean
  readonly span: Span
}

/** An entry of `links` or `external_links`. */
export interface Link {
  readonly service: string
  readonly alias: string
  readonly span: Span
}

/** An entry of `pre_start`, `post_start` or `pre_stop`. */
export interface Hook {
  readonly span: Span
  readonly command?: Words
  readonly user?: At<string>
  readonly privileged?: At<boolean>
  readonly workingDir?: At<string>
  /** The hook's own variables, without inherited variables. */
  readonly environment: readonly Pair[]
  /** Image of a `pre_start` hook. The fields below are also set only for `pre_start` hooks. */
  readonly image?: At<string>
  readonly entrypoint?: Words
  readonly perReplica?: At<boolean>
}

/**
 * Action that a change of a watched path triggers
 * (https://github.com/compose-spec/compose-spec/blob/main/develop.md#action).
 */
export type WatchAction = 'rebuild' | 'sync' | 'restart' | 'sync+restart' | 'sync+exec'

/** An entry of `develop.watch`. */
export interface WatchRule {
  readonly span: Span
  /** The absolute path of a folder or file, with symbolic links resolved. */
  readonly path: At<string>
  readonly action: At<WatchAction>
  /** A container path, as written. */
  readonly target?: At<string>
  /** Patterns in the grammar of `.dockerignore`, relative to `path`. */
  readonly ignore: readonly At<string>[]
  /** Patterns of files to watch. If empty, all files are watched. */
  readonly include: readonly At<string>[]
  readonly initialSync: boolean
  readonly exec?: WatchExec
}

/** The command of a `sync+exec` rule. */
export interface WatchExec {
  readonly span: Span
  readonly command: Words
  readonly user?: At<string>
  readonly privileged: boolean
  readonly workingDir?: At<string>
  readonly environment: readonly Pair[]
}

/** An entry of `ports`. */
export interface Port {
  readonly span: Span
  readonly target: number
  readonly protocol: Protocol
  /** The published port as written: a number or a range. */
  readonly published?: string
  readonly hostIp?: string
  readonly mode?: string
  readonly name?: string
  readonly appProtocol?: string
  /** `x-host`: custom host names for the public route. */
  readonly hosts: readonly CustomHost[]
  /** `x-expose`: a connection from outside the cluster that does not use HTTP. */
  readonly expose?: PortExposure
}

/**
 * A Service for connections from outside the cluster
 * (https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types).
 */
export interface PortExposure {
  readonly span: Span
  readonly type: 'LoadBalancer' | 'NodePort'
  /** The port of a NodePort Service. If absent, the cluster assigns a port. */
  readonly nodePort?: number
  readonly annotations: readonly Pair[]
  readonly loadBalancerClass?: string
  readonly sourceRanges: readonly string[]
}

/** A network that a service joins. */
export interface ServiceNetwork {
  readonly name: string
  readonly span: Span
  readonly aliases: readonly At<string>[]
  /** Fixed IP addresses of the service on the network, which Kubernetes does not support. */
  readonly addresses: readonly string[]
}

/** An entry of the service's `volumes`. */
export type Mount = VolumeMount | BindMount | TmpfsMount | ImageMount | OtherMount

/** The values of `x-mount`: the kind of object that a host path becomes. */
export type MountAs = 'config' | 'secret' | 'claim' | 'skip'

interface MountBase {
  readonly span: Span
  /** Absolute, normalized path in the container. */
  readonly target: At<string>
  readonly readOnly: boolean
  /** The value of `x-mount`. */
  readonly as?: At<MountAs>
}
/** A mount of a volume. The volume is anonymous if `source` is absent. */
export interface VolumeMount extends MountBase {
  readonly type: 'volume'
  readonly source?: string
  readonly nocopy: boolean
  readonly subpath?: string
  /** `volume.labels`, sorted. */
  readonly labels: readonly Pair[]
}
/** A mount of a host path. */
export interface BindMount extends MountBase {
  readonly type: 'bind'
  /** Absolute host path. */
  readonly source: At<string>
  readonly createHostPath: boolean
  /** True if `create_host_path: false` is set. */
  readonly mustExist: boolean
  readonly propagation?: string
  readonly recursive?: string
}
/** A mount of a memory volume. */
export interface TmpfsMount extends MountBase {
  readonly type: 'tmpfs'
  /** The source, which Docker ignores for this type. Users expect it to name a shared volume. */
  readonly source?: At<string>
  /** Size in bytes. */
  readonly size?: bigint
  readonly mode?: number
}
/** A mount of an image's files. */
export interface ImageMount extends MountBase {
  readonly type: 'image'
  readonly source: string
  readonly subpath?: string
}
/** A mount that Kubernetes does not support. */
export interface OtherMount extends MountBase {
  readonly type: 'cluster' | 'npipe'
  readonly source?: string
}

/** An entry of the service's `tmpfs` list. */
export interface TmpfsEntry {
  readonly span: Span
  readonly target: string
  /** Size in bytes. */
  readonly size?: bigint
  /** Options other than `size`, as written. */
  readonly options: readonly string[]
}

/** An entry of the service's `configs` or `secrets`. */
export interface FileMount {
  readonly span: Span
  readonly source: string
  /** Absolute path in the container. */
  readonly target: string
  /** File mode as a number (0o444 is 292). */
  readonly mode?: number
  readonly uid?: string
  readonly gid?: string
}

/** Kubernetes quantities (`500m`, `128Mi`) from `resources`, `deploy.resources`, `cpus`, `mem_*` and similar keys. */
export interface Resources {
  readonly limits: { readonly cpu?: At<string>; readonly memory?: At<string>; readonly ephemeralStorage?: At<string> }
  readonly requests: { readonly cpu?: At<string>; readonly memory?: At<string> }
}

/** A device request from `gpus`, `deploy.resources.reservations.devices` or `generic_resources`. */
export interface DeviceRequest {
  readonly span: Span
  /** The extended resource, such as `nvidia.com/gpu`. Undefined if the request has no equivalent. */
  readonly resource?: string
  /** Number of devices; -1 means `all`. */
  readonly count: number
  readonly deviceIds: boolean
  /** The position of the driver options, if any. */
  readonly options?: Span
}

/** `deploy` of a service, except for resources and restart policy. */
export interface Deploy {
  readonly span?: Span
  readonly mode?: At<string>
  readonly replicas?: At<number>
  readonly endpointMode?: At<string>
  readonly labels: readonly Pair[]
  readonly constraints: readonly At<string>[]
  readonly spread: readonly At<string>[]
  readonly maxReplicasPerNode?: At<number>
  readonly update?: {
    readonly span: Span
    readonly parallelism?: At<number>
    readonly delay?: At<Duration>
    readonly monitor?: At<Duration>
    readonly order?: At<string>
  }
}

/** An entry of the top-level `networks`. */
export interface Network {
  /** The `name` that the user sets, or the key of an external network. Entries with the same name are one network. */
  readonly name?: string
  readonly key: string
  readonly span: Span
  readonly external: boolean
  readonly internal: boolean
  readonly driver?: At<string>
  readonly labels: readonly Pair[]
}

/** An entry of the top-level `volumes`. */
export interface Volume {
  readonly key: string
  /** The `name` that the user sets. Compose's default `<project>_<key>` does not appear here. */
  readonly name?: At<string>
  readonly span: Span
  readonly external: boolean
  readonly driver?: At<string>
  readonly driverOpts: readonly Pair[]
  readonly labels: readonly Pair[]
}

/** A top-level config or secret. */
export interface FileObject {
  readonly key: string
  readonly name?: At<string>
  readonly span: Span
  readonly external: boolean
  /**
   * The content. Absent if the object is external, unreadable, or not needed because a Secret in the cluster has the
   * content.
   */
  readonly content?: Uint8Array
  /** Source of the content in the files. Absent if the object is external. */
  readonly source?: FileObjectSource
  readonly labels: readonly Pair[]
}

/** Source of the content of a config or secret. */
export type FileObjectSource =
  /** A file with an absolute path. */
  | { readonly kind: 'file'; readonly path: At<string> }
  /** A variable of the project. `value` is absent if the variable is not set. */
  | { readonly kind: 'variable'; readonly name: At<string>; readonly value?: string }
  | { readonly kind: 'content'; readonly value: string }

/** An entry of the top-level `models`. */
export interface Model {
  readonly key: string
  /** Name of the model in requests to its API. */
  readonly model: At<string>
  /** `x-endpoint`: address of the API. */
  readonly endpoint?: At<string>
  readonly span: Span
}

/** A rule of an endpoint: a path, and the service and port that receive the requests. */
export interface EndpointRule {
  readonly span: Span
  readonly path: At<string>
  readonly service: At<string>
  readonly port: At<number>
  /** Custom host names, in addition to the host name of the endpoint. */
  readonly hosts: readonly CustomHost[]
}

/** A custom host name. */
export interface CustomHost {
  readonly name: At<string>
  readonly tls?: TlsSource
}

/**
 * The source of a certificate: a Secret, or a cert-manager issuer
 * (https://cert-manager.io/docs/usage/ingress/).
 */
export interface TlsSource {
  readonly span?: Span
  readonly secret?: string
  readonly issuer?: { readonly kind: 'Issuer' | 'ClusterIssuer'; readonly name: string }
}

/**
 * Top-level `endpoints` of the files: a list of rules, a mapping with `rules`, or a mapping of names to endpoints. An
 * item has no `name` if it is the environment's own endpoint.
 */
export interface Endpoints {
  readonly span: Span
  readonly endpoints: readonly {
    readonly name?: At<string>
    readonly rules: readonly EndpointRule[]
    readonly span: Span
    /** Labels that apply only to this endpoint. */
    readonly labels?: readonly Pair[]
  }[]
  readonly labels: readonly Pair[]
}
