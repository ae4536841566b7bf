import { isUserId } from '../rules/names.ts'
import { isUlid } from '../rules/ulid.ts'

/** The request to delete a namespace; it survives a restart of the replica that handles it. */
export interface Deletion {
  /** A ULID. */
  readonly id: string
  /** The id of the user who requested it; absent: the platform itself, because the namespace is unused. */
  readonly by?: string
  /** The commands of deployed manifests are skipped. */
  readonly isForced?: boolean
  /** The reason why it is not over. */
  readonly waits?: string
  /** Reason why the deletion failed. */
  readonly problem?: string
}

/** The annotation. */
export const DELETION = 'dev.platform/deletion'

export const fromDeletion = (deletion: Deletion): string => JSON.stringify(deletion)

/** Undefined if there is none, or it cannot be read. */
export function toDeletion(annotation: string | undefined): Deletion | undefined {
  try {
    const { id, by, isForced, waits, problem } = JSON.parse(annotation ?? '') as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || !isUlid(id)) return undefined
    return {
      id,
      ...(typeof by === 'string' && isUserId(by) && { by }),
      ...(isForced === true && { isForced }),
      ...(typeof waits === 'string' && waits !== '' && { waits }),
      ...(typeof problem === 'string' && problem !== '' && { problem }),
    }
  } catch {
    return undefined
  }
}
