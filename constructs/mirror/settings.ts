import type { Labels } from '../labels.ts'

/** An object of a cluster, with every field that it has. */
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

/** What a development container changes in the container of the application. */
export interface ContainerSettings {
  /** A DNS label. */
  readonly name: string
  /** Undefined: that of the container. */
  readonly image?: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  /** Literal words. Undefined: those of the container. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workdir?: string
  /** Undefined: the first container. */
  readonly container?: string
  readonly environment: readonly { readonly name: string; readonly value: string }[]
  /** Folders that are synchronised, as the container sees them, and their folder in the volume. */
  readonly folders: readonly VolumeFolder[]
  readonly replicas?: number
  readonly resources: ResourceSettings
  readonly labels: Labels
  readonly annotations: Labels
  readonly nodeSelector?: Labels
  /** Kubernetes' own structures. */
  readonly tolerations: readonly unknown[]
  readonly affinity?: unknown
}

/** Quantities by resource. */
export interface ResourceSettings {
  readonly requests: Readonly<Record<string, string>>
  readonly limits: Readonly<Record<string, string>>
}

export interface VolumeFolder {
  /** Of the container; absolute. */
  readonly path: string
  /** Of the volume: `src/0`, `data/root/.cache`. */
  readonly directory: string
  /** A file is mounted, which the agent makes before the container starts. */
  readonly isFile?: true
}

/** A development container, as far as it decides what its mirror is. */
export interface MirrorSettings extends ContainerSettings {
  /** `hybrid`: the agent alone runs in the place of the container. */
  readonly mode: 'sync' | 'hybrid'
  readonly autocreate: boolean
  /** Folders that are kept in the volume. */
  readonly volumes: readonly VolumeFolder[]
  readonly externalVolumes: readonly { readonly claim: string; readonly subPath?: string; readonly mount: string }[]
  /** Files of this machine, in the order of `MirrorFacts.files`. */
  readonly secrets: readonly { readonly path: string; readonly mode: number }[]
  readonly security: SecuritySettings
  readonly serviceAccount?: string
  readonly priorityClassName?: string
  /** Which probes of the application stay. */
  readonly probes: { readonly liveness: boolean; readonly readiness: boolean; readonly startup: boolean }
  readonly lifecycle: { readonly postStart: HookSettings; readonly preStop: HookSettings }
  readonly agent: { readonly image?: string; readonly resources: ResourceSettings }
  readonly volume: VolumeSettings
  readonly services: readonly ContainerSettings[]
  /** The ports of the Service of a container without an application. */
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

/** True if a hook of the application stays, and what runs in its place. */
export interface HookSettings {
  readonly enabled: boolean
  readonly command?: readonly string[]
}

/** The claim that keeps the files. */
export interface VolumeSettings {
  /** False: the files are lost with the Pod. */
  readonly enabled: boolean
  /** A quantity. */
  readonly size: string
  readonly storageClass?: string
  readonly accessMode: string
  readonly volumeMode: string
  readonly labels: Labels
  readonly annotations: Labels
}

/** A user of the container, by numbers. */
export interface User {
  readonly uid: number
  readonly gid?: number
}

/** What is known of the cluster, the image and the session besides the settings. */
export interface MirrorFacts {
  readonly namespace: string
  /** The agent's program, one file: compressed by gzip, in base64, and a hash of its text. */
  readonly agent: { readonly data: string; readonly hash: string }
  /** The text of `session.json`. */
  readonly session: string
  /** Names the last `up --reset` of this mirror, which empties the volume once. */
  readonly reset?: string
  /** A stock image with Node.js. */
  readonly agentImage: string
  /** An image with a static busybox. */
  readonly toolsImage: string
  /** What the process 1 of the container does: it waits for commands, or runs the command and starts it again. */
  readonly runs: 'hold' | 'command'
  /** The contents of the secrets, in base64. */
  readonly files: readonly string[]
  /** The user of the image, where it is known. */
  readonly user?: User
  /** The claims of the namespace, by name; those of a StatefulSet's first Pod are used. */
  readonly claims: ReadonlySet<string>
  /** False: no claim can be bound here. */
  readonly canClaim: boolean
  /** The size of the claim that is there, where it is larger than what nobody has asked for. */
  readonly claimSize?: string
  /** False before Kubernetes 1.29, where an init container cannot stay. */
  readonly hasSidecars: boolean
  /** The applications of `services`, in their order. */
  readonly services: readonly LiveObject[]
}

/** A Kubernetes object to apply. */
export interface MirrorObject extends LiveObject {
  readonly metadata: LiveObject['metadata'] & { readonly namespace: string }
}

/** The objects of a mirror, and what a user should know of them. */
export interface MirrorObjects {
  readonly secret: MirrorObject
  /** Undefined: the files are in a volume that lives as long as the Pod. */
  readonly claim?: MirrorObject
  readonly workload: MirrorObject
  /** The mirrors of `services`, in their order. */
  readonly services: readonly MirrorObject[]
  /** For a container without an application. */
  readonly service?: MirrorObject
  readonly notes: readonly string[]
}
