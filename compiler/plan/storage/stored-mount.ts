import type { Span } from '../../text/source.ts'
import type { ClaimSpec, KeyPath } from '../plan.ts'

/**
 * A mount of a service together with the storage that holds its data. The kind of the workload determines later how the
 * Pod refers to the storage.
 */
export interface StoredMount {
  /** Path in the container. */
  readonly target: string
  readonly readOnly: boolean
  readonly span: Span
  readonly held: Held
  readonly propagation?: 'Bidirectional' | 'HostToContainer'
  readonly recursiveReadOnly?: boolean
  /** True for a data folder inside a mounted folder, which the Compose file does not mount explicitly. */
  readonly isPart?: true
}

export type Held =
  | HeldByClaim
  /** An anonymous volume, with one claim for each Pod. `name` is derived from the mount path. */
  | { readonly kind: 'anonymous'; readonly name: string; readonly spec: ClaimSpec; readonly fill: boolean }
  /**
   * A volume in memory. `owner` is set for a `/dev/shm` that other services may share: the service whose IPC namespace
   * they join.
   */
  | { readonly kind: 'memory'; readonly name: string; readonly sizeLimit?: string; readonly owner?: string }
  | { readonly kind: 'empty'; readonly name: string }
  | {
      readonly kind: 'nfs'
      readonly name: string
      readonly server: string
      readonly path: string
      readonly subPath?: string
    }
  | {
      readonly kind: 'image'
      readonly name: string
      readonly reference: string
      readonly pullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
      readonly subPath?: string
    }
  | { readonly kind: 'hostPath'; readonly name: string; readonly path: string; readonly type?: string }
  | HeldByFiles
  /** Files of several ConfigMaps and Secrets in one folder. `folders` are empty folders that serve as mount points. */
  | {
      readonly kind: 'projected'
      readonly name: string
      readonly sources: readonly (HeldByFiles & { readonly items: readonly KeyPath[] })[]
      readonly folders: readonly string[]
    }

export interface HeldByClaim {
  readonly kind: 'claim'
  readonly claim: string
  /** Folder of the claim that serves as the volume. Absent for external claims, which are mounted from their root. */
  readonly directory?: string
  /** Path within `directory`. */
  readonly subPath?: string
  /** True for a host folder, which the user of the service owns. */
  readonly isFolder?: boolean
  /** Description for messages, such as `` the volume `data` ``. */
  readonly description: string
  readonly access: ClaimSpec['accessMode'] | 'unknown'
  /** True if an empty volume is filled from the image. */
  readonly fill: boolean
}

/** A ConfigMap or Secret. `subPath` selects a single file to mount. */
export interface HeldByFiles {
  readonly kind: 'configMap' | 'secret'
  readonly name: string
  readonly object: string
  readonly mode?: number
  readonly items?: readonly KeyPath[]
  readonly subPath?: string
}

/** Limits the propagation of a mount: Kubernetes lets only privileged containers pass mounts on to the node. */
export const withoutSharing = <M extends Pick<StoredMount, 'propagation'>>(mount: M): M =>
  mount.propagation === 'Bidirectional' ? { ...mount, propagation: 'HostToContainer' } : mount
