import type { Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { isEmpty, type Yaml, type YamlPlace } from './yaml-path.ts'

/**
 * Returns the text with `value` put at a position: in place of a scalar, after a key without a value, or as the last
 * entry of a mapping or list. No other byte changes. Returns undefined if the formatting of the text does not allow
 * this.
 */
export function editInPlace(
  yaml: Yaml,
  text: string,
  { node, pair, rest }: YamlPlace,
  value: Node,
): string | undefined {
  if (isEmpty(yaml, node)) return pair && afterKey(yaml, text, pair, rest, value)
  if (yaml.isScalar(node)) {
    if (rest.length > 0) return undefined
    if (node.type?.startsWith('BLOCK')) return replaced(text, rangeOf(node), printFlow(yaml, value) + lineBreakOf(text))
    return replaced(
      text,
      rangeOf(node),
      yaml.isScalar(value) ? printScalar(yaml, value, node.type) : printFlow(yaml, value),
    )
  }
  if (!yaml.isCollection(node) || (yaml.isMap(node) && rest.length === 0)) return undefined
  if (node.flow) return intoFlow(yaml, text, node as YAMLMap | YAMLSeq, rest, value) // there are no others
  return withLines(
    text,
    lineEnd(text, endOf(yaml, node)),
    printLines(yaml, node, rest, value),
    column(text, rangeOf(node)),
  )
}

function afterKey(yaml: Yaml, text: string, { key }: Pair, rest: readonly string[], value: Node): string {
  const range = rangeOf(key as Scalar) // it was found by being one
  const colon = text.indexOf(':', range[1])
  if (rest.length === 0 && !yaml.isSeq(value))
    return replaced(text, [colon + 1, colon + 1], ` ${printFlow(yaml, value)}`)
  return withLines(text, lineEnd(text, colon + 1), printLines(yaml, undefined, rest, value), column(text, range) + 2)
}

/** Inserts a value into a flow collection. JSON is also YAML, and has to remain valid JSON. */
function intoFlow(yaml: Yaml, text: string, node: YAMLMap | YAMLSeq, rest: readonly string[], value: Node): string {
  const isJson = /^\s*\{\s*"/.test(text)
  const inner = printFlow(yaml, nest(yaml, rest, value), isJson)
  const written = rest.length > 0 ? inner.slice(1, -1) : inner
  const at = node.items.length === 0 ? rangeOf(node)[0] + 1 : endOfLast(yaml, node)
  return replaced(text, [at, at], node.items.length === 0 ? written : `, ${written}`)
}

/** Returns the lines for a new entry of a collection, or for a new value below a key. */
function printLines(yaml: Yaml, node: Node | undefined, rest: readonly string[], value: Node): readonly string[] {
  const nested = nest(yaml, rest, value)
  const list = new yaml.YAMLSeq()
  if (yaml.isSeq(node)) list.add(nested)
  const document = new yaml.Document(undefined, { schema: 'failsafe' })
  document.contents = (yaml.isSeq(node) ? list : nested) as typeof document.contents // typed for a scalar
  return document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd().split('\n')
}

/** Returns a value nested below keys that do not exist yet. */
const nest = (yaml: Yaml, keys: readonly string[], value: Node): Node =>
  keys.toReversed().reduce<Node>((inner, key) => {
    const map = new yaml.YAMLMap()
    map.set(key, inner)
    return map
  }, value)

const printFlow = (yaml: Yaml, node: Node, isJson = false): string =>
  yaml
    .stringify(node, {
      schema: 'failsafe',
      collectionStyle: 'flow',
      flowCollectionPadding: false,
      lineWidth: 0,
      ...(isJson && { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' }),
    })
    .trimEnd()

/** Prints a scalar, quoted like the scalar it replaces. */
function printScalar(yaml: Yaml, scalar: Scalar, type: Scalar['type']): string {
  const quoted = new yaml.Scalar(scalar.value)
  quoted.type = type?.startsWith('QUOTE') ? type : scalar.type
  return printFlow(yaml, quoted)
}

function withLines(text: string, at: number, lines: readonly string[], indent: number): string {
  const eol = lineBreakOf(text)
  const added = lines.map(line => `${' '.repeat(indent)}${line}`).join(eol)
  const isLast = at === text.length && !text.endsWith('\n')
  return replaced(text, [at, at], `${isLast ? eol : ''}${added}${isLast ? '' : eol}`)
}

const lineBreakOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

const replaced = (text: string, [from, to]: readonly [from: number, to: number], written: string): string =>
  text.slice(0, from) + written + text.slice(to)

/** Returns the positions of the start and the end of a node, including quotes. A parsed node always has a range. */
const rangeOf = ({ range }: Node): readonly [from: number, to: number] => [range![0], range![1]]

const column = (text: string, [start]: readonly [from: number, to: number]): number =>
  start - (text.lastIndexOf('\n', start - 1) + 1)

/** Returns the position at which a node ends; for a block collection, the end of its last item. */
const endOf = (yaml: Yaml, node: Node): number =>
  yaml.isCollection(node) && !node.flow ? endOfLast(yaml, node as YAMLMap | YAMLSeq) : rangeOf(node)[1] // there are no others

function endOfLast(yaml: Yaml, node: YAMLMap | YAMLSeq): number {
  const last = node.items.at(-1)
  const inner = yaml.isPair(last) ? (last.value ?? last.key) : last
  return yaml.isNode(inner) ? endOf(yaml, inner) : rangeOf(node)[1]
}

/**
 * Returns the position after the next line break; `offset` itself if it follows a line break, as at the end of a block
 * scalar.
 */
function lineEnd(text: string, offset: number): number {
  if (text[offset - 1] === '\n') return offset
  const next = text.indexOf('\n', offset)
  return next === -1 ? text.length : next + 1
}
