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

/** Data to write. Mappings are written on one line. */
export type YamlValue = string | number | boolean | readonly YamlValue[] | { readonly [key: string]: YamlValue }

/**
 * A change of a document: a value to set, or an item to add to a list that lacks it. Missing mappings and lists on the
 * path are created.
 */
export type YamlEdit = { readonly path: readonly YamlStep[] } & (
  | { readonly value: YamlValue }
  | { readonly item: YamlValue }
)

/**
 * Makes one change to a YAML text; returns the text, or a clause that explains why the text cannot be edited. Comments,
 * order and quoting stay: a line is added or a value replaced, and no other byte changes. If this is not possible, as
 * for the replacement of a mapping on several lines, changes the parsed document and prints it again with its comments.
 */
export async function editYaml(
  text: string,
  edit: YamlEdit,
): Promise<{ readonly ok: true; readonly text: string } | YamlProblem> {
  const yaml = await import('yaml')
  const document = parse(yaml, text)
  const [error] = document.errors
  // The parser's message quotes lines of the file, which may contain a token.
  if (error?.code === 'MULTIPLE_DOCS') return refuse('it has several documents')
  if (error) return refuse(`it is not valid YAML (line ${error.linePos?.[0].line})`)
  const place = followPath(yaml, document, edit.path)
  if (!place.ok) return place
  if ('item' in edit && place.rest.length === 0 && !yaml.isSeq(place.node) && !isEmpty(yaml, place.node))
    return refuse(`${showPath(edit.path)} must be a list`)
  if (
    'item' in edit &&
    place.rest.length === 0 &&
    yaml.isSeq(place.node) &&
    place.node.toJSON().some((one: unknown) => isDeepStrictEqual(one, edit.item))
  )
    return { ok: true, text }
  const wanted = withEdit(yaml, document.clone(), place, edit)
  const edited = editInPlace(yaml, text, place, valueAt(yaml, place, edit))
  // Verifies that the edited text parses to the edited document.
  const printed = print(wanted, text)
  const isSame =
    edited !== undefined && isDeepStrictEqual(contentOf(parse(yaml, edited)), contentOf(parse(yaml, printed)))
  return { ok: true, text: isSame ? edited : printed }
}

/** Parses every scalar as a string, so that keys such as `on` and `1` keep their text. */
const parse = (yaml: Yaml, text: string): Document => yaml.parseDocument(text, { schema: 'failsafe' })

/** Returns the content of a document; undefined if the text is not valid YAML. */
const contentOf = (document: Document): unknown =>
  document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: -1 })

function withEdit(yaml: Yaml, document: Document, { steps, node, rest }: YamlPlace, edit: YamlEdit): Document {
  // An empty node would prevent the change.
  if (isEmpty(yaml, node) && steps.length > 0) document.deleteIn(steps)
  const path = [...steps, ...rest]
  const isIntoList = 'item' in edit && rest.length === 0 && yaml.isSeq(node)
  if (isIntoList) document.addIn(path, toNode(yaml, edit.item))
  else document.setIn(path, valueAt(yaml, { node, rest }, edit))
  return document
}

/**
 * Returns the node to insert. For a value, this is the value. For an item, this is the item if the list exists,
 * otherwise a new list with the item.
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
 * Creates a node: a mapping on one line, or a string that is quoted unless every version of YAML reads it as a string.
 */
function toNode(yaml: Yaml, value: YamlValue): Node {
  return asTexts(yaml, new yaml.Document(value).createNode(value, { flow: true }))
}

/**
 * Prepares a node for a document in which every scalar is parsed as a string. Quotes strings that some version of YAML
 * reads as another type, such as the number `1_000`, and turns other values into plain text.
 */
export function asTexts<N extends Node>(yaml: Yaml, node: N): N {
  yaml.visit(node, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== 'string') {
        scalar.value = String(scalar.value)
        scalar.type = 'PLAIN'
        return
      }
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
