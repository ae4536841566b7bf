/**
 * The result of parsing a text. `reason` is a clause that reads well after a colon, such as `it is empty`. `start` and
 * `end` are offsets in the parsed text, set if the failure concerns only a part of it.
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

/**
 * Creates a failure. `at` is the range of the text that the failure concerns; undefined if it concerns the full text.
 */
export function failed(reason: string, hint?: string, at?: readonly [start: number, end: number]): Failed {
  return { ok: false, reason, ...(hint !== undefined && { hint }), ...(at && { start: at[0], end: at[1] }) }
}
