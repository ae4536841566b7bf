import type { Pair } from '../compose/project.ts'
import type { At, Span } from '../text/source.ts'
import type { Tree } from '../text/tree.ts'
import type { Forward } from './forward.ts'

/** The fields that a development container and its additional containers have in common. */
export interface DevelopmentContainer {
  /** Name of the container, a DNS label. */
  readonly name: string
  readonly span: Span
  readonly image?: At<string>
  /** The command to run. If undefined, the container's own command. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workdir?: At<string>
  readonly container?: At<string>
  readonly selector: readonly Pair[]
  readonly environment: readonly Pair[]
  readonly envFiles: readonly At<string>[]
  /** The folders to synchronize. If undefined, the host volumes of the Compose file determine them. */
  readonly sync?: Sync
  readonly replicas?: At<number>
  /** Quantities in canonical form, by resource. */
  readonly resources: { readonly requests: readonly Pair[]; readonly limits: readonly Pair[] }
  readonly labels: readonly Pair[]
  readonly annotations: readonly Pair[]
  readonly nodeSelector?: readonly Pair[]
  /** Structure of the Pod field with the same name, unchanged from the manifest. */
  readonly tolerations?: Tree
  readonly affinity?: Tree
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never'
}

/** A development container, as declared in the section `dev` of a manifest. */
export interface Development extends DevelopmentContainer {
  readonly mode: 'sync' | 'hybrid'
  readonly autocreate: boolean
  readonly volumes: readonly At<string>[]
  readonly externalVolumes: readonly ExternalVolume[]
  readonly secrets: readonly DevelopmentSecret[]
  readonly forward: readonly Forward[]
  readonly reverse: readonly Reverse[]
  /** The local port of the SSH connection. If absent, any free port. */
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
  /** Timeouts in milliseconds. */
  readonly timeout: { readonly step: number; readonly resources: number }
  readonly services: readonly DevelopmentContainer[]
}

export interface Sync {
  readonly folders: readonly SyncFolder[]
  readonly compression: boolean
  readonly verbose: boolean
  /** Interval between two scans of all files, in seconds. */
  readonly rescanInterval: number
}

export interface SyncFolder {
  readonly span: Span
  /** Local path as written: relative to the manifest's folder, absolute, or beginning with `~`. */
  readonly local: string
  /** Absolute path in the container. */
  readonly remote: string
  /**
   * Name of the only file in the `local` folder that is synchronized, set if `remote` is a file. Used only for mounts
   * of a Compose file.
   */
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

/** A port of the container that is forwarded to a port of this machine. */
export interface Reverse {
  readonly span: Span
  readonly remotePort: number
  readonly localPort: number
}

export interface PersistentVolume {
  readonly enabled: boolean
  /** Size of the volume, a Kubernetes quantity. */
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

/** A lifecycle hook: `enabled` keeps the application's own hook, and `command` replaces it. */
export interface DevelopmentHook {
  readonly enabled: boolean
  readonly command?: readonly string[]
}
