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

/** Changes of a development container to the container of the application. */
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
  /** Absolute path in the container. */
  readonly path: string
  /** Path in the volume: `src/0`, `data/root/.cache`. */
  readonly directory: string
  /** A file is mounted, which the agent makes before the container starts. */
  readonly isFile?: true
}

/** A development container, as far as it decides what its mirror is. */
export interface MirrorSettings extends ContainerSettings {
  /** Mode of the container. `hybrid`: only the agent runs, in place of the application. */
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
  /** Probes of the application that stay. */
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

/** A lifecycle hook: whether the application's own hook stays, and the command that replaces it. */
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

/** Facts about the cluster, the image and the session that the settings do not contain. */
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
  /** Task of process 1 of the container: it waits for commands, or runs the command and restarts it. */
  readonly runs: 'hold' | 'command'
  /** The contents of the secrets, in base64. */
  readonly files: readonly string[]
  /** The user of the image, where it is known. */
  readonly user?: User
  /** The claims of the namespace, by name; those of a StatefulSet's first Pod are used. */
  readonly claims: ReadonlySet<string>
  /** False: no claim can be bound here. */
  readonly canClaim: boolean
  /**
   * Size of the existing claim, if the settings have the default size and the claim is larger; a smaller explicit size
   * is refused.
   */
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
  /** Service of a container without an application. */
  readonly service?: MirrorObject
  readonly notes: readonly string[]
}
