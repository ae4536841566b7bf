import { isUserId } from '../rules/names.ts'
import { isUlid } from '../rules/ulid.ts'

/** A request to delete a namespace. It survives a restart of the replica that handles it. */
export interface Deletion {
  /** Id of the request, a ULID. */
  readonly id: string
  /**
   * The id of the user who requested the deletion; absent if the platform deletes the namespace because it is unused.
   */
  readonly by?: string
  /** True if the commands of deployed manifests are skipped. */
  readonly isForced?: boolean
  /** Reason why the deletion has not finished yet, as text. */
  readonly waits?: string
  /** Reason why the deletion failed. */
  readonly problem?: string
}

/** Annotation of a Namespace that stores the deletion request. */
export const DELETION = 'dev.platform/deletion'

export const fromDeletion = (deletion: Deletion): string => JSON.stringify(deletion)

/** Parses the annotation. Returns undefined if it is absent or invalid. */
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
