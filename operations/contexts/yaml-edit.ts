import type { Node, Pair, Scalar, YAMLMap } from 'yaml'

/** A step into a document: the value of a key, or the item of a list that has this name. */
export type YamlStep = string | { readonly name: string }

type Yaml = typeof import('yaml')

/**
 * The YAML text with one value written or added: `key` of the map that the steps lead to. Every other byte stays as it is, comments among
 * them. Undefined when there is no such map, or the text is of a form that this cannot do, an alias for one.
 */
export async function setValue(
  text: string,
  steps: readonly YamlStep[],
  key: string,
  value: string,
): Promise<string | undefined> {
  const yaml = await import('yaml')
  const map = mapAt(yaml, text, steps)
  const edited = map && edit(yaml, text, map, key, JSON.stringify(value))
  if (edited === undefined) return undefined
  // The proof of what was written: a value over several lines, for one, has no place that can be replaced so.
  return mapAt(yaml, edited, steps)?.get(key) === value ? edited : undefined
}

function mapAt(yaml: Yaml, text: string, steps: readonly YamlStep[]): YAMLMap | undefined {
  const { contents, errors } = yaml.parseDocument(text, { version: '1.1' })
  const found = errors.length > 0 ? undefined : steps.reduce<unknown>((node, step) => into(yaml, node, step), contents)
  return yaml.isMap(found) ? found : undefined
}

function into(yaml: Yaml, node: unknown, step: YamlStep): unknown {
  if (typeof step === 'string') return yaml.isMap(node) ? node.get(step, true) : undefined
  if (!yaml.isSeq(node)) return undefined
  return node.items.find(item => yaml.isMap(item) && item.get('name') === step.name)
}

function edit(yaml: Yaml, text: string, map: YAMLMap, key: string, value: string): string | undefined {
  const put = (from: number, to: number, written: string) => text.slice(0, from) + written + text.slice(to)
  const pair = map.items.find((one: Pair) => yaml.isScalar(one.key) && one.key.value === key)
  if (pair) {
    if (!yaml.isScalar(pair.value) || pair.value.type?.startsWith('BLOCK')) return undefined
    const [from, to] = rangeOf(pair.value)
    if (to > from) return put(from, to, value)
    const colon = text.indexOf(':', rangeOf(pair.key as Scalar)[1]) // it was found by being one
    return put(colon + 1, colon + 1, ` ${value}`)
  }
  const [start] = rangeOf(map)
  const first = map.items[0]?.key
  // `{}`
  if (first === undefined) return put(start + 1, start + 1, `${key}: ${value}`)
  if (!yaml.isScalar(first)) return undefined
  const [at] = rangeOf(first)
  // JSON is YAML, too, and shall stay JSON.
  const name = text[at] === '"' ? JSON.stringify(key) : key
  const column = at - (text.lastIndexOf('\n', at - 1) + 1)
  return put(at, at, `${name}: ${value}${map.flow ? ', ' : `\n${' '.repeat(column)}`}`)
}

/** From where to where a node stands, with its quotes. What was parsed has a range. */
const rangeOf = ({ range }: Node): readonly [from: number, to: number] => [range![0], range![1]]
