import type { MountAs } from '../../compose/project.ts'
import type { At, Span } from '../../text/source.ts'
import type { Held, StoredMount } from './stored-mount.ts'

/** A host path to be mounted. */
export interface HostMount {
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
  readonly createHostPath: boolean
  /** True if a missing folder must not be created. */
  readonly mustExist: boolean
  /** Value of `x-mount`. */
  readonly as?: At<MountAs> | undefined
  readonly propagation?: string | undefined
  readonly recursive?: string | undefined
  readonly span: Span
  readonly sourceSpan: Span
}

/** Returns the mount of a host path, given the storage that holds its data. */
export function stored(mount: HostMount, held: Held): StoredMount {
  const propagation = /shared$/.test(mount.propagation ?? '')
    ? 'Bidirectional'
    : /slave$/.test(mount.propagation ?? '')
      ? 'HostToContainer'
      : undefined
  return {
    target: mount.target,
    readOnly: mount.readOnly,
    span: mount.span,
    held,
    // Only mounts of a node's path can propagate other mounts.
    ...(propagation && held.kind === 'hostPath' && { propagation }),
    ...(mount.recursive === 'readonly' && mount.readOnly && { recursiveReadOnly: true }),
  }
}
