import { isUserId } from '../rules/names.ts'
import { isUlid } from '../rules/ulid.ts'

/** That a namespace is to be deleted: it survives whoever works on it. */
export interface Deletion {
  /** A ULID. */
  readonly id: string
  /** The id of the user who has asked for it; absent: nobody, as nobody uses the namespace. */
  readonly by?: string
  /** Without the commands of what was deployed in it. */
  readonly isForced?: boolean
  /** Why it could not be. */
  readonly problem?: string
}

/** The annotation. */
export const DELETION = 'dev.platform/deletion'

export const fromDeletion = (deletion: Deletion): string => JSON.stringify(deletion)

/** Undefined where there is none that can be read. */
export function toDeletion(annotation: string | undefined): Deletion | undefined {
  try {
    const { id, by, isForced, problem } = JSON.parse(annotation ?? '') as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || !isUlid(id)) return undefined
    return {
      id,
      ...(typeof by === 'string' && isUserId(by) && { by }),
      ...(isForced === true && { isForced }),
      ...(typeof problem === 'string' && problem !== '' && { problem }),
    }
  } catch {
    return undefined
  }
}
