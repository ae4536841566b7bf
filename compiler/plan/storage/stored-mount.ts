import type { Span } from '../../text/source.ts'
import type { ClaimSpec, KeyPath } from '../plan.ts'

/**
 * A mount of a service after it is decided what holds its data; the kind of the workload then
 * decides how the Pod refers to it.
 */
export interface StoredMount {
  /** Path in the container. */
  readonly target: string
  readonly readOnly: boolean
  readonly span: Span
  readonly held: Held
  readonly propagation?: 'Bidirectional' | 'HostToContainer'
  readonly recursiveReadOnly?: boolean
  /** True for a data folder within a mounted folder: the file does not mount it itself. */
  readonly isPart?: true
}

export type Held =
  | HeldByClaim
  /** An anonymous volume: a claim of each Pod. `name` is made of its path. */
  | { readonly kind: 'anonymous'; readonly name: string; readonly spec: ClaimSpec; readonly fill: boolean }
  | { readonly kind: 'memory'; readonly name: string; readonly sizeLimit?: string }
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
  /**
   * Files of several ConfigMaps and Secrets in one folder. `folders` are made for what is mounted
   * there.
   */
  | {
      readonly kind: 'projected'
      readonly name: string
      readonly sources: readonly (HeldByFiles & { readonly items: readonly KeyPath[] })[]
      readonly folders: readonly string[]
    }

export interface HeldByClaim {
  readonly kind: 'claim'
  readonly claim: string
  /**
   * Folder of the claim that is the volume; absent for claims of others, which are mounted whole.
   */
  readonly directory?: string
  /** Folder within that. */
  readonly subPath?: string
  /** A folder of the host: the user of the service owns it. */
  readonly isFolder?: boolean
  /** Its name in messages: `` the volume `data` ``. */
  readonly description: string
  readonly access: ClaimSpec['accessMode'] | 'unknown'
  /** True if an empty volume is filled from the image. */
  readonly fill: boolean
}

/** A ConfigMap or Secret; `subPath` mounts one of its files. */
export interface HeldByFiles {
  readonly kind: 'configMap' | 'secret'
  readonly name: string
  readonly object: string
  readonly mode?: number
  readonly items?: readonly KeyPath[]
  readonly subPath?: string
}
