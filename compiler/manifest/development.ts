import type { Pair } from '../compose/project.ts'
import type { At, Span } from '../text/source.ts'
import type { Tree } from '../text/tree.ts'
import type { Forward } from './forward.ts'

/** The fields that a development container and those beside it have in common. */
export interface DevelopmentContainer {
  /** A DNS label. */
  readonly name: string
  readonly span: Span
  readonly image?: At<string>
  /** Undefined: the command of the container. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workdir?: At<string>
  readonly container?: At<string>
  readonly selector: readonly Pair[]
  readonly environment: readonly Pair[]
  readonly envFiles: readonly At<string>[]
  /** Undefined: the host volumes of the Compose file say it. */
  readonly sync?: Sync
  readonly replicas?: At<number>
  /** Quantities as written, by resource. */
  readonly resources: { readonly requests: readonly Pair[]; readonly limits: readonly Pair[] }
  readonly labels: readonly Pair[]
  readonly annotations: readonly Pair[]
  readonly nodeSelector?: readonly Pair[]
  /** Kubernetes' own structures, as written. */
  readonly tolerations?: Tree
  readonly affinity?: Tree
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never'
}

/** A development container. */
export interface Development extends DevelopmentContainer {
  readonly mode: 'sync' | 'hybrid'
  readonly autocreate: boolean
  readonly volumes: readonly At<string>[]
  readonly externalVolumes: readonly ExternalVolume[]
  readonly secrets: readonly DevelopmentSecret[]
  readonly forward: readonly Forward[]
  readonly reverse: readonly Reverse[]
  /** Absent: a free port. */
  readonly remote?: At<number>
  readonly sshServerPort: number
  readonly interface: string
  readonly persistentVolume: PersistentVolume
  readonly securityContext: DevelopmentSecurity
  readonly serviceAccount?: At<string>
  readonly priorityClassName?: At<string>
  readonly probes: { readonly liveness: boolean; readonly readiness: boolean; readonly startup: boolean }
  readonly lifecycle: { readonly postStart: DevelopmentHook; readonly preStop: DevelopmentHook }
  readonly initContainer: { readonly image?: At<string>; readonly resources: DevelopmentContainer['resources'] }
  /** Limits in milliseconds. */
  readonly timeout: { readonly step: number; readonly resources: number }
  readonly services: readonly DevelopmentContainer[]
}

export interface Sync {
  readonly folders: readonly SyncFolder[]
  readonly compression: boolean
  readonly verbose: boolean
  /** Interval in seconds. */
  readonly rescanInterval: number
}

export interface SyncFolder {
  readonly span: Span
  /** Local path as written: relative to the manifest's folder, absolute, or from `~`. */
  readonly local: string
  /** Absolute path in the container. */
  readonly remote: string
  /** The name in this folder of the only file that is synchronized, where `remote` is a file; of a Compose file. */
  readonly file?: string
}

export interface ExternalVolume {
  readonly span: Span
  readonly claim: string
  readonly subPath?: string
  /** Absolute mount path. */
  readonly mount: string
}

export interface DevelopmentSecret {
  readonly span: Span
  readonly local: string
  /** Absolute path in the container. */
  readonly remote: string
  readonly mode: number
}

/** A port of the container that leads to one of this machine. */
export interface Reverse {
  readonly span: Span
  readonly remotePort: number
  readonly localPort: number
}

export interface PersistentVolume {
  readonly enabled: boolean
  /** A quantity. */
  readonly size: string
  readonly storageClass?: At<string>
  readonly accessMode: string
  readonly volumeMode: string
  readonly labels: readonly Pair[]
  readonly annotations: readonly Pair[]
}

export interface DevelopmentSecurity {
  readonly runAsUser?: At<number>
  readonly runAsGroup?: At<number>
  readonly fsGroup?: At<number>
  readonly runAsNonRoot?: At<boolean>
  readonly allowPrivilegeEscalation?: At<boolean>
  readonly readOnlyRootFilesystem?: At<boolean>
  readonly capabilities: { readonly add: readonly string[]; readonly drop: readonly string[] }
}

/** A lifecycle hook: whether the application's own hook stays, and the command that replaces it. */
export interface DevelopmentHook {
  readonly enabled: boolean
  readonly command?: readonly string[]
}
