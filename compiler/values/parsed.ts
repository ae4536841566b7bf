/**
 * The result of reading a text with a value grammar. `reason` is a clause that reads well after a
 * colon, such as `it is empty`; `start` and `end` are offsets in the text that was given, for a
 * span smaller than the whole.
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | Failed

export interface Failed {
  readonly ok: false
  readonly reason: string
  readonly hint?: string
  readonly start?: number
  readonly end?: number
}

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value })

/** A failure with the stretch of the text it is about, where that is not the whole. */
export function failed(reason: string, hint?: string, at?: readonly [start: number, end: number]): Failed {
  return { ok: false, reason, ...(hint !== undefined && { hint }), ...(at && { start: at[0], end: at[1] }) }
}
