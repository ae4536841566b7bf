import { type Agreed, type FileEntry, isFolder, isUntouched } from './entry.ts'

export interface MergeInput {
  readonly base: Agreed | undefined
  readonly local: FileEntry | undefined
  readonly remote: FileEntry | undefined
  /** Direction of the synchronization; with `up`, changes in the container stay in the container. */
  readonly direction: 'both' | 'up'
  /** True if a parent of the path exists on the laptop, is not a folder there, and will not become one. */
  readonly isBelowFile?: boolean
}

export type Decision =
  /** No action: both sides and the base stay as they are. */
  | { readonly do: 'nothing' }
  /** Records the equal state of both sides as the new base. */
  | { readonly do: 'agree' }
  | { readonly do: 'forget' }
  /**
   * Hashes the contents first, because a decision is only possible afterwards. `local` and `remote` are true for the
   * sides to hash.
   */
  | { readonly do: 'hash'; readonly local: boolean; readonly remote: boolean }
  /**
   * The laptop's version replaces the container's version; with `keep`, the container's version is saved as a conflict
   * first.
   */
  | { readonly do: 'send' | 'remove-remote'; readonly keep: boolean }
  /** Copies only the modification time and the execute bit. */
  | { readonly do: 'send-meta' | 'fetch-meta' }
  | { readonly do: 'fetch' | 'remove-local' }

const NOTHING: Decision = { do: 'nothing' }
const AGREE: Decision = { do: 'agree' }

/**
 * Decides what happens to a path. If one side changed, the other side receives the change. If both sides changed, the
 * laptop wins and the losing version is kept; an edit wins over a deletion. Files of the image that the laptop does not
 * have stay in the container until either side changes them. Every combination of states has a decision.
 */
export function merge(input: MergeInput): Decision {
  const { base, local, remote } = input
  if (!local && !remote) return base ? { do: 'forget' } : NOTHING
  if (input.isBelowFile && !local) return mergeBelowFile(input)
  if (!base) return mergeFirst(input)
  if (local && remote && !(base.local && base.remote)) return mergeBoth(local, remote, undefined)
  return mergeWithBase(base, input)
}

function mergeFirst({ local, remote, direction }: MergeInput): Decision {
  if (local && remote) return mergeBoth(local, remote, undefined)
  if (local) return { do: 'send', keep: false }
  return remote!.isOfImage || direction === 'up' ? NOTHING : { do: 'fetch' }
}

function mergeWithBase(base: Agreed, { local, remote, direction }: MergeInput): Decision {
  const onLaptop = changeOf(base.local, local, base)
  const inContainer = changeOf(base.remote, remote, base)
  if (onLaptop === 'unknown' || inContainer === 'unknown')
    return { do: 'hash', local: onLaptop === 'unknown', remote: inContainer === 'unknown' }
  if (inContainer === 'none') return fromLaptop(base, onLaptop, local, remote)
  // The container's version comes from a new image, so no user has changed the agreed version.
  if (inContainer === 'contents' && remote?.isOfImage)
    return local ? { do: 'send', keep: false } : { do: 'remove-remote', keep: false }
  if (direction === 'up' && (onLaptop === 'none' || !local)) return NOTHING
  if (onLaptop === 'none') return fromContainer(inContainer, remote)
  if (!local) return { do: 'fetch' }
  return remote ? mergeBoth(local, remote, base) : { do: 'send', keep: false }
}

function fromLaptop(
  base: Agreed,
  change: SideChange,
  local: FileEntry | undefined,
  remote: FileEntry | undefined,
): Decision {
  if (change === 'contents') return local ? { do: 'send', keep: false } : { do: 'remove-remote', keep: false }
  if (change === 'meta' || isTouched(base.local, local)) return { do: 'send-meta' }
  return isUntouched(base.local, local) && isUntouched(base.remote, remote) ? NOTHING : AGREE
}

function fromContainer(change: SideChange, remote: FileEntry | undefined): Decision {
  if (!remote) return { do: 'remove-local' }
  return change === 'meta' ? { do: 'fetch-meta' } : { do: 'fetch' }
}

/**
 * Returns true if the modification time of a file has changed. A new time alone is sent to the container, too, where it
 * triggers `make` and watchers.
 */
const isTouched = (before: FileEntry | undefined, now: FileEntry | undefined): boolean =>
  before?.kind === 'file' && now?.kind === 'file' && before.mtime !== now.mtime

/** Returns the decision for a path that both sides have changed, or that has no base to compare with. */
function mergeBoth(local: FileEntry, remote: FileEntry, base: Agreed | undefined): Decision {
  const equal = sameContents(local, remote)
  if (equal === undefined) return { do: 'hash', local: local.hash === undefined, remote: remote.hash === undefined }
  if (!equal) return { do: 'send', keep: !isFolder(remote) && !remote.isOfImage }
  if (sameMode(local, remote)) return AGREE
  // The side that changed the execute bit wins with a base. The laptop wins if both sides changed it, or without a
  // base.
  return base && sameMode(base.local!, local) ? { do: 'fetch-meta' } : { do: 'send-meta' }
}

/**
 * Decides for a path below a folder of the container, if a file replaces that folder on the laptop. The laptop wins:
 * the contents of the folder are deleted.
 */
function mergeBelowFile({ base, remote }: MergeInput): Decision {
  if (isFolder(remote)) return { do: 'remove-remote', keep: false }
  const change = base ? changeOf(base.remote, remote, base) : 'contents'
  if (change === 'unknown') return { do: 'hash', local: false, remote: true }
  return { do: 'remove-remote', keep: change === 'contents' && !remote!.isOfImage }
}

type SideChange = 'none' | 'meta' | 'contents' | 'unknown'

function changeOf(before: FileEntry | undefined, now: FileEntry | undefined, base: Agreed): SideChange {
  if (isUntouched(before, now)) return 'none'
  if (!before || !now || before.kind !== now.kind || now.kind !== 'file' || before.size !== now.size) return 'contents'
  if (now.size === 0) return sameMode(before, now) ? 'none' : 'meta'
  if (now.hash === undefined) return 'unknown'
  const agreed = base.local?.hash ?? base.remote?.hash
  if (now.hash !== agreed) return 'contents'
  return sameMode(before, now) ? 'none' : 'meta'
}

/** Returns true if two entries have the same contents; undefined if the contents must be hashed first. */
function sameContents(one: FileEntry, other: FileEntry): boolean | undefined {
  if (one.kind !== other.kind) return false
  if (one.kind === 'folder') return true
  if (one.kind === 'link') return one.target === other.target
  if (one.size !== other.size) return false
  if (one.size === 0) return true
  return one.hash === undefined || other.hash === undefined ? undefined : one.hash === other.hash
}

const sameMode = (one: FileEntry, other: FileEntry): boolean =>
  one.executable === undefined || other.executable === undefined || one.executable === other.executable

/**
 * Returns the decision for a path that only the laptop may change. Changes in the container are reverted, and changed
 * files are saved as conflicts first.
 */
export function onlyFromLaptop(decision: Decision, { local, remote }: Pick<MergeInput, 'local' | 'remote'>): Decision {
  switch (decision.do) {
    case 'fetch':
      return { do: local ? 'send' : 'remove-remote', keep: !isFolder(remote) }
    case 'fetch-meta':
      return { do: 'send-meta' }
    case 'remove-local':
      return { do: 'send', keep: false }
    default:
      return decision
  }
}
