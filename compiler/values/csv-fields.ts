/**
 * Splits a line of CSV, as used in the options of Docker builds. A field that contains a comma is quoted from start to
 * end (`"a=b,c",d=e`), and `""` within it is a quote. Returns undefined if a quote is not closed.
 */
export function csvFields(text: string): readonly string[] | undefined {
  const fields: string[] = []
  for (let at = 0; at <= text.length; ) {
    if (text[at] !== '"') {
      const comma = text.indexOf(',', at)
      const end = comma < 0 ? text.length : comma
      fields.push(text.slice(at, end).trim())
      at = end + 1
      continue
    }
    const [quoted, content] = /^"((?:[^"]|"")*)"(?=,|$)/.exec(text.slice(at)) ?? []
    if (quoted === undefined || content === undefined) return undefined
    fields.push(content.replaceAll('""', '"'))
    at += quoted.length + 1
  }
  return fields
}
