import type { Document } from 'yaml'
import { asTexts } from './yaml-edit.ts'

/** An item of a top-level list of a document, identified by its `name`. */
export interface NamedItem {
  readonly list: string
  readonly item: { readonly name: string; readonly [field: string]: unknown }
}

/**
 * Puts items into lists of a YAML document, replacing items with the same name, and sets strings at its top level.
 * Everything else stays, with its comments. Returns the text, or a clause that explains why the document cannot be
 * edited.
 */
export async function putNamedItems(
  text: string,
  items: readonly NamedItem[],
  texts: Readonly<Record<string, string>>,
): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string }> {
  const yaml = await import('yaml')
  const document: Document = yaml.parseDocument(text, { schema: 'failsafe' })
  const [error] = document.errors
  // The parser's message quotes lines of the file, which may contain a token.
  if (error) return { ok: false, problem: `it is not one YAML document (line ${error.linePos?.[0].line})` }
  if (document.contents === null || (yaml.isScalar(document.contents) && !document.contents.source))
    document.contents = document.createNode({})
  if (!yaml.isMap(document.contents)) return { ok: false, problem: 'it must be a mapping' }
  for (const [key, value] of Object.entries(texts)) document.set(key, asTexts(yaml, document.createNode(value)))
  for (const { list, item } of items) {
    const found = document.get(list)
    const node = yaml.isSeq(found) ? found : document.createNode([])
    if (found !== node) {
      // `contexts: null` is an empty list, as for kubectl.
      const isNone = found === undefined || ['', 'null', '~'].includes(String(found))
      if (!isNone) return { ok: false, problem: `\`${list}\` must be a list` }
      document.set(list, node)
    }
    const at = node.items.findIndex(one => yaml.isMap(one) && one.get('name') === item.name)
    const made = asTexts(yaml, document.createNode(item))
    if (at < 0) node.add(made)
    else node.set(at, made)
    // An empty list is written as `[]`; switch to block style with the first item.
    if (node.items.length === 1) node.flow = false
  }
  return { ok: true, text: document.toString({ lineWidth: 0 }) }
}
