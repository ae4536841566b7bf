import type { SecretPlaces } from '../text/secret-places.ts'
import type { At, Span } from '../text/source.ts'
import type { MapTree, Tree } from '../text/tree.ts'

/**
 * What the Compose files mean, in one canonical form: files merged, variables substituted, short forms made long, paths absolute,
 * profiles applied, values parsed. It has no defaults of Kubernetes and no decisions: those are the plan's.
 */
export interface Project {
  /** Compose's own name of the project (option, COMPOSE_PROJECT_NAME, `name`, folder). */
  readonly name: string
  /** The place of top-level `name`, where a file has one. */
  readonly nameSpan?: Span
  /** Set where a file, an option or COMPOSE_PROJECT_NAME gives the name; else it is the folder's. */
  readonly isNamed?: true
  /** Absolute; relative paths of the files were resolved against it. */
  readonly directory: string
  /** The enabled services, in source order. */
  readonly services: ReadonlyMap<string, Service>
  /** Names of services that a profile leaves out, or that could not be read: known, so that nothing reports them as missing. */
  readonly absentServices: ReadonlySet<string>
  readonly networks: ReadonlyMap<string, Network>
  readonly volumes: ReadonlyMap<string, Volume>
  readonly secrets: ReadonlyMap<string, FileObject>
  readonly configs: ReadonlyMap<string, FileObject>
  readonly models: ReadonlyMap<string, Model>
  readonly endpoints?: Endpoints
  /** The canonical tree, dialect keys included. */
  readonly tree: MapTree
  /** Extensions that mean something to another tool: `x-okteto-liveness`. */
  readonly foreignKeys?: readonly Pair[]
  /** What is secret because of where it comes from, and where it stands. */
  readonly secretPlaces: SecretPlaces
}

/** `KEY=value` with the place of the value, or of the key where there is no value. */
export interface Pair {
  readonly name: string
  readonly value: string
  readonly span: Span
  /** Where the name is written. */
  readonly key?: Span
  /** The value is secret because of a variable that took part in it. */
  readonly isSecret?: true
}

/** A variable whose value a Secret holds. */
export interface SecretVariable {
  readonly name: string
  /** What the Compose files give it, where they do; only a backend that encrypts values takes it. */
  readonly value?: string
  readonly span: Span
}

export interface Service {
  readonly name: string
  /** Where its key is written. */
  readonly span: Span
  /** The canonical tree of the service. */
  readonly tree: MapTree

  // image and process
  readonly image?: At<string>
  readonly build?: Build
  readonly pullPolicy?: At<string>
  readonly platform?: At<string>
  /** Words; an empty list clears the image's; absent keeps it. */
  readonly command?: Words
  readonly entrypoint?: Words
  readonly workingDir?: At<string>
  /** env_file and environment together, sorted by name, without those that have no value. */
  readonly environment: readonly Pair[]
  /** Variables that come from Secrets of the cluster, by the rules of the environment; sorted, and in no other list. */
  readonly secretEnvironment: readonly SecretVariable[]
  /** label_file and labels, sorted; become annotations. */
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
  readonly scale?: At<number>
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
  /** Ports and protocols of `expose`, ranges expanded. */
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

  // the CLI's
  readonly attach: boolean
  readonly develop?: Tree
  readonly models: readonly {
    readonly name: string
    readonly endpointVar: string
    readonly modelVar: string
    readonly span: Span
  }[]
}

export type Protocol = 'TCP' | 'UDP' | 'SCTP'

export interface Words {
  readonly words: readonly string[]
  readonly span: Span
}

/** A length of time in milliseconds (fractions for what is below one). */
export interface Duration {
  readonly milliseconds: number
}

export interface Build {
  readonly span: Span
  /** Absolute path, or a URL. */
  readonly context: At<string>
  readonly dockerfile?: At<string>
  readonly dockerfileInline?: At<string>
  readonly target?: At<string>
  /** Sorted by name; null where nothing gives a value. */
  readonly args: readonly { readonly name: string; readonly value: string | null; readonly span: Span }[]
}

export interface Healthcheck {
  readonly span: Span
  /** `none`: `disable: true` or `NONE`. */
  readonly check:
    | { readonly kind: 'none' }
    | { readonly kind: 'exec'; readonly command: readonly string[]; readonly span: Span }
    | { readonly kind: 'shell'; readonly script: string; readonly span: Span }
    | { readonly kind: 'http'; readonly path: string; readonly port: number; readonly span: Span }
    /** Only timings are given: the image's own check, which Kubernetes does not know. */
    | { readonly kind: 'image' }
  readonly interval?: At<Duration>
  readonly timeout?: At<Duration>
  readonly startPeriod?: At<Duration>
  readonly startInterval?: At<Duration>
  readonly retries?: At<number>
  readonly readiness: At<boolean>
  readonly liveness: At<boolean>
}

/** `restart` and `deploy.restart_policy` in one. `policy` is absent when the file says nothing. */
export interface Restart {
  readonly policy?: At<'always' | 'on-failure' | 'no'>
  /** From `on-failure:N` or `max_attempts`. */
  readonly maxAttempts?: At<number>
}

export interface Dependency {
  readonly service: string
  readonly condition: 'service_started' | 'service_healthy' | 'service_completed_successfully'
  readonly required: boolean
  readonly restart: boolean
  /** True for what links, shared namespaces and volumes_from imply. */
  readonly implicit: boolean
  readonly span: Span
}

export interface Link {
  readonly service: string
  readonly alias: string
  readonly span: Span
}

export interface Hook {
  readonly span: Span
  readonly command?: Words
  readonly user?: At<string>
  readonly privileged?: At<boolean>
  readonly workingDir?: At<string>
  /** Its own, without what it has of its service. */
  readonly environment: readonly Pair[]
  /** Of pre_start only. */
  readonly image?: At<string>
  readonly entrypoint?: Words
  readonly perReplica?: At<boolean>
}

export interface Port {
  readonly span: Span
  readonly target: number
  readonly protocol: Protocol
  /** As written: a number, a range, or absent. */
  readonly published?: string
  readonly hostIp?: string
  readonly mode?: string
  readonly name?: string
  readonly appProtocol?: string
  /** `x-host`: hosts of the user's own for the public route. */
  readonly hosts: readonly OwnHost[]
  /** `x-expose`: reached from outside of the cluster without HTTP. */
  readonly expose?: PortExposure
}

/** A Service for connections from outside (https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types). */
export interface PortExposure {
  readonly span: Span
  readonly type: 'LoadBalancer' | 'NodePort'
  /** Of a NodePort; absent: the cluster chooses. */
  readonly nodePort?: number
  readonly annotations: readonly Pair[]
  readonly loadBalancerClass?: string
  readonly sourceRanges: readonly string[]
}

export interface ServiceNetwork {
  readonly name: string
  readonly span: Span
  readonly aliases: readonly At<string>[]
  /** Fixed addresses of the service on the network, which a cluster does not have. */
  readonly addresses: readonly string[]
}

export type Mount = VolumeMount | BindMount | TmpfsMount | ImageMount | OtherMount

/** What an `x-mount` makes of a host path. */
export type MountAs = 'config' | 'secret' | 'claim' | 'skip'

interface MountBase {
  readonly span: Span
  /** Absolute, cleaned path in the container. */
  readonly target: At<string>
  readonly readOnly: boolean
  /** `x-mount`. */
  readonly as?: At<MountAs>
}
/** `source` absent: anonymous. */
export interface VolumeMount extends MountBase {
  readonly type: 'volume'
  readonly source?: string
  readonly nocopy: boolean
  readonly subpath?: string
  /** `volume.labels`, sorted. */
  readonly labels: readonly Pair[]
}
export interface BindMount extends MountBase {
  readonly type: 'bind'
  /** Absolute path of this machine. */
  readonly source: At<string>
  readonly createHostPath: boolean
  /** `create_host_path: false` was written. */
  readonly mustExist: boolean
  readonly propagation?: string
  readonly recursive?: string
}
export interface TmpfsMount extends MountBase {
  readonly type: 'tmpfs'
  /** A name without a meaning to engines, by which people mean one volume. */
  readonly source?: At<string>
  /** Bytes. */
  readonly size?: bigint
  readonly mode?: number
}
export interface ImageMount extends MountBase {
  readonly type: 'image'
  readonly source: string
  readonly subpath?: string
}
export interface OtherMount extends MountBase {
  readonly type: 'cluster' | 'npipe'
  readonly source?: string
}

/** An entry of the service's `tmpfs` list. */
export interface TmpfsEntry {
  readonly span: Span
  readonly target: string
  /** Bytes. */
  readonly size?: bigint
  /** Options that are not `size`, as written. */
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

/** Quantities as Kubernetes writes them (`500m`, `128Mi`), from `resources`, `deploy.resources`, `cpus`, `mem_*` and the like. */
export interface Resources {
  readonly limits: { readonly cpu?: At<string>; readonly memory?: At<string>; readonly ephemeralStorage?: At<string> }
  readonly requests: { readonly cpu?: At<string>; readonly memory?: At<string> }
}

/** `gpus` and `deploy.resources.reservations.devices` and `generic_resources`. */
export interface DeviceRequest {
  readonly span: Span
  /** The extended resource it becomes, `nvidia.com/gpu`; undefined when it has no equivalent. */
  readonly resource?: string
  /** -1 is `all`. */
  readonly count: number
  readonly deviceIds: boolean
  /** Where settings for the driver are written, if there are any. */
  readonly options?: Span
}

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

export interface Network {
  readonly name: string
  readonly key: string
  readonly span: Span
  readonly external: boolean
  readonly internal: boolean
  readonly driver?: At<string>
  readonly labels: readonly Pair[]
}

export interface Volume {
  readonly key: string
  /** `name` as written by the user, absent where only the key names it (Compose's own `<project>_<key>` is not used). */
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
  /** Absent when external, unreadable, or not needed because another Secret holds it. */
  readonly content?: Uint8Array
  readonly labels: readonly Pair[]
}

export interface Model {
  readonly key: string
  readonly model: string
  readonly span: Span
}

export interface EndpointRule {
  readonly span: Span
  readonly path: At<string>
  readonly service: At<string>
  readonly port: At<number>
  /** Hosts of the user's own that answer it, beside the endpoint's. */
  readonly hosts: readonly OwnHost[]
}

/** A host name of the user's own. */
export interface OwnHost {
  readonly name: At<string>
  readonly tls?: TlsSource
}

/** Where a certificate comes from: a Secret, or an issuer of cert-manager (https://cert-manager.io/docs/usage/ingress/). */
export interface TlsSource {
  readonly span?: Span
  readonly secret?: string
  readonly issuer?: { readonly kind: 'Issuer' | 'ClusterIssuer'; readonly name: string }
}

/** The three notations in one: `name` is absent for the environment's own endpoint. */
export interface Endpoints {
  readonly span: Span
  readonly endpoints: readonly {
    readonly name?: At<string>
    readonly rules: readonly EndpointRule[]
    readonly span: Span
    /** Of this endpoint alone. */
    readonly labels?: readonly Pair[]
  }[]
  readonly labels: readonly Pair[]
}
