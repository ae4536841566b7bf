import { isDeepStrictEqual } from 'node:util'
import type { Document, Node } from 'yaml'
import { editInPlace } from './yaml-in-place.ts'
import {
  followPath,
  isEmpty,
  refuse,
  showPath,
  type Yaml,
  type YamlPlace,
  type YamlProblem,
  type YamlStep,
} from './yaml-path.ts'

/** A text, or a mapping of texts. */
export type YamlValue = string | Readonly<Record<string, string>>

/**
 * A change of a document: a value to be set, or an item to be added to a list that lacks it.
 * Mappings and lists on the way are made.
 */
export type YamlEdit = { readonly path: readonly YamlStep[] } & (
  | { readonly value: YamlValue }
  | { readonly item: YamlValue }
)

/**
 * Makes one change to a YAML text; gives the text, or a clause that says why it cannot be edited.
 * Comments, order and quoting stay: a line is added or a value replaced, and no other byte changes.
 * A change that cannot be made that way (replacing a value over several lines) is made in the
 * document, which is printed again with its comments.
 */
export async function editYaml(
  text: string,
  edit: YamlEdit,
): Promise<{ readonly ok: true; readonly text: string } | YamlProblem> {
  const yaml = await import('yaml')
  const document = parse(yaml, text)
  const [error] = document.errors
  // The message quotes lines of the file: there may be a token on them.
  if (error?.code === 'MULTIPLE_DOCS') return refuse('it has several documents')
  if (error) return refuse(`it is not valid YAML (line ${error.linePos?.[0].line})`)
  const place = followPath(yaml, document, edit.path)
  if (!place.ok) return place
  if ('item' in edit && place.rest.length === 0 && !yaml.isSeq(place.node) && !isEmpty(yaml, place.node))
    return refuse(`${showPath(edit.path)} must be a list`)
  if ('item' in edit && place.rest.length === 0 && yaml.isSeq(place.node) && place.node.toJSON().includes(edit.item))
    return { ok: true, text }
  const wanted = withEdit(yaml, document.clone(), place, edit)
  const edited = editInPlace(yaml, text, place, valueAt(yaml, place, edit))
  // The proof that the text has become what the document is.
  const isSame = edited !== undefined && isDeepStrictEqual(contentOf(parse(yaml, edited)), contentOf(wanted))
  return { ok: true, text: isSame ? edited : print(wanted, text) }
}

/** Every scalar is a text: keys such as `on` and `1` are what is written there. */
const parse = (yaml: Yaml, text: string): Document => yaml.parseDocument(text, { schema: 'failsafe' })

/** Undefined where the text is not YAML. */
const contentOf = (document: Document): unknown =>
  document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: -1 })

function withEdit(yaml: Yaml, document: Document, { steps, node, rest }: YamlPlace, edit: YamlEdit): Document {
  // An empty node would be in the way.
  if (isEmpty(yaml, node) && steps.length > 0) document.deleteIn(steps)
  const path = [...steps, ...rest]
  const isIntoList = 'item' in edit && rest.length === 0 && yaml.isSeq(node)
  if (isIntoList) document.addIn(path, toNode(yaml, edit.item))
  else document.setIn(path, valueAt(yaml, { node, rest }, edit))
  return document
}

/**
 * The node to put at the path: the value, the item for an existing list, or a new list of the item.
 */
function valueAt(yaml: Yaml, { node, rest }: Pick<YamlPlace, 'node' | 'rest'>, edit: YamlEdit): Node {
  if ('value' in edit) return toNode(yaml, edit.value)
  const item = toNode(yaml, edit.item)
  if (rest.length === 0 && yaml.isSeq(node)) return item
  const list = new yaml.YAMLSeq()
  list.add(item)
  return list
}

/**
 * A mapping is written in one line; a text is plain where every version of YAML reads it as a text.
 */
function toNode(yaml: Yaml, value: YamlValue): Node {
  return asTexts(yaml, new yaml.Document(value).createNode(value, { flow: true }))
}

/** Quotes the texts of a node that some version of YAML reads as something else: `1_000` is a number. */
export function asTexts<N extends Node>(yaml: Yaml, node: N): N {
  yaml.visit(node, {
    Scalar(_, scalar) {
      const isPlain = yaml.stringify(scalar.value, { compat: 'yaml-1.1', lineWidth: 0 }) === `${scalar.value}\n`
      if (!isPlain) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return node
}

function print(document: Document, before: string): string {
  const indentSeq = !/:\r?\n- /.test(before)
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: /\{ /.test(before), indentSeq })
  return before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text
}
