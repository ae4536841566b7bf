/** Position of the cursor in the texts of tests. */
const CURSOR = '‸'

/** Returns a text without the mark of its cursor, and the offset of the cursor. */
export function withCursor(marked: string): { readonly text: string; readonly offset: number } {
  const offset = marked.indexOf(CURSOR)
  if (offset < 0) throw new Error(`no ${CURSOR} in ${marked}`)
  return { text: marked.replace(CURSOR, ''), offset }
}
