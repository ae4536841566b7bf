import type { Labels } from '../labels.ts'

/** A cluster object with all of its fields. */
export interface LiveObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly labels?: Labels
    readonly annotations?: Labels
  }
  readonly [field: string]: unknown
}

/** Settings of a development container: the changes that it makes to the application's container. */
export interface ContainerSettings {
  /** Name of the development container, as a DNS label. */
  readonly name: string
  /** Image of the container. If undefined, the application's image is kept. */
  readonly image?: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  /** Command as literal arguments. If undefined, the application's command is kept. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workdir?: string
  /** Name of the application's container. If undefined, the first container is used. */
  readonly container?: string
  readonly environment: readonly { readonly name: string; readonly value: string }[]
  /** Synchronized folders, with their paths in the container and in the volume. */
  readonly folders: readonly VolumeFolder[]
  readonly replicas?: number
  readonly resources: ResourceSettings
  readonly labels: Labels
  readonly annotations: Labels
  readonly nodeSelector?: Labels
  /** Tolerations and affinity in Kubernetes' own format. */
  readonly tolerations: readonly unknown[]
  readonly affinity?: unknown
}

/** Requests and limits: the quantity of each resource. */
export interface ResourceSettings {
  readonly requests: Readonly<Record<string, string>>
  readonly limits: Readonly<Record<string, string>>
}

export interface VolumeFolder {
  /** Absolute path in the container. */
  readonly path: string
  /** Path in the volume, such as `src/0` or `data/root/.cache`. */
  readonly directory: string
  /** True for a single file. It has to be created before the container starts, because it is mounted separately. */
  readonly isFile?: true
}

/** The settings of a development container that determine its mirror. */
export interface MirrorSettings extends ContainerSettings {
  /** Mode of the container. In `hybrid` mode only the agent runs, in place of the application. */
  readonly mode: 'sync' | 'hybrid'
  readonly autocreate: boolean
  /** Folders of the container, besides the synchronized ones, whose content is kept in the volume. */
  readonly volumes: readonly VolumeFolder[]
  readonly externalVolumes: readonly { readonly claim: string; readonly subPath?: string; readonly mount: string }[]
  /**
   * Files of this machine that are mounted in the container. `MirrorFacts.files` has their contents, in the same order.
   */
  readonly secrets: readonly { readonly path: string; readonly mode: number }[]
  readonly security: SecuritySettings
  readonly serviceAccount?: string
  readonly priorityClassName?: string
  /** Probes of the application that the development container keeps. */
  readonly probes: { readonly liveness: boolean; readonly readiness: boolean; readonly startup: boolean }
  readonly lifecycle: { readonly postStart: HookSettings; readonly preStop: HookSettings }
  readonly agent: { readonly image?: string; readonly resources: ResourceSettings }
  readonly volume: VolumeSettings
  readonly services: readonly ContainerSettings[]
  /** Ports of the Service, for a container without an application. */
  readonly ports: readonly number[]
}

export interface SecuritySettings {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly fsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly allowPrivilegeEscalation?: boolean
  readonly readOnlyRootFilesystem?: boolean
  readonly capabilities: { readonly add: readonly string[]; readonly drop: readonly string[] }
}

/**
 * Settings of a lifecycle hook. The application's own hook is removed if `enabled` is false, and replaced with
 * `command` if `command` is set.
 */
export interface HookSettings {
  readonly enabled: boolean
  readonly command?: readonly string[]
}

/** Settings of the claim that stores the files. */
export interface VolumeSettings {
  /** True if there is a claim. If false, the files are lost with the Pod. */
  readonly enabled: boolean
  /** Size as a Kubernetes quantity. */
  readonly size: string
  readonly storageClass?: string
  readonly accessMode: string
  readonly volumeMode: string
  readonly labels: Labels
  readonly annotations: Labels
}

/** A user of the container, with numeric ids. */
export interface User {
  readonly uid: number
  readonly gid?: number
}

/** Facts about the cluster, the image and the session that the settings do not contain. */
export interface MirrorFacts {
  readonly namespace: string
  /** The agent, as a single file compressed with gzip and encoded in base64, and a hash of its source text. */
  readonly agent: { readonly data: string; readonly hash: string }
  /** Text of `session.json`. */
  readonly session: string
  /** Identifier of the last `up --reset` of this mirror. A new identifier empties the volume once. */
  readonly reset?: string
  /** Image of the agent: a standard image with Node.js. */
  readonly agentImage: string
  /** An image with a static busybox. */
  readonly toolsImage: string
  /** Task of process 1 of the container: it waits for commands, or runs the command and restarts it. */
  readonly runs: 'hold' | 'command'
  /** Contents of the files in `secrets` of the settings, in base64 and in the same order. */
  readonly files: readonly string[]
  /** User of the image, if known. */
  readonly user?: User
  /** Names of all claims in the namespace, by which the claims of a StatefulSet's first Pod are found. */
  readonly claims: ReadonlySet<string>
  /** False if no claim can be bound in this cluster. */
  readonly canClaim: boolean
  /**
   * Size of the existing claim if the claim is larger than the settings require and the settings have the default size.
   * A smaller size that the user has set is refused.
   */
  readonly claimSize?: string
  /** True if an init container can be a sidecar, which requires Kubernetes 1.29. */
  readonly hasSidecars: boolean
  /** Live application of each item of `services` in the settings, in the same order. */
  readonly services: readonly LiveObject[]
}

/** A Kubernetes object to apply. */
export interface MirrorObject extends LiveObject {
  readonly metadata: LiveObject['metadata'] & { readonly namespace: string }
}

/** The objects of a mirror, and notes for the user. */
export interface MirrorObjects {
  readonly secret: MirrorObject
  /** Claim for the files. If undefined, the files are in a volume that lives as long as the Pod. */
  readonly claim?: MirrorObject
  readonly workload: MirrorObject
  /** Mirror of each item of `services` in the settings, in the same order. */
  readonly services: readonly MirrorObject[]
  /** Service of a container without an application. */
  readonly service?: MirrorObject
  readonly notes: readonly string[]
}
