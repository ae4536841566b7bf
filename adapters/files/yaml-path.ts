import type { Document, Node, Pair } from 'yaml'

export type Yaml = typeof import('yaml')

/** A step on a path into a document: a key of a mapping, the index of a list item, or the `name` of a list item. */
export type YamlStep = string | number | { readonly name: string }

/** The end of a path into a document: the deepest node that exists, and the keys that do not exist. */
export interface YamlPlace {
  readonly ok: true
  /** Keys and indexes that lead to `node` in the document. */
  readonly steps: readonly (string | number)[]
  /** The deepest existing node on the path; undefined in an empty document. */
  readonly node: Node | undefined
  /** The pair of a mapping that has `node` as its value; undefined if `node` is not in a mapping. */
  readonly pair: Pair | undefined
  /** Keys of the path that do not exist. */
  readonly rest: readonly string[]
}

/** A clause that explains why a document cannot be edited. */
export interface YamlProblem {
  readonly ok: false
  readonly problem: string
}

/**
 * Follows a path into a document. Refuses aliases, because a change would affect every use of their anchor, and nodes
 * that cannot contain the next step.
 */
export function followPath(yaml: Yaml, document: Document, path: readonly YamlStep[]): YamlPlace | YamlProblem {
  let place: YamlPlace = { ok: true, steps: [], node: document.contents ?? undefined, pair: undefined, rest: [] }
  for (const [index, step] of path.entries()) {
    const { node } = place
    const shown = showPath(path.slice(0, index))
    if (yaml.isAlias(node)) return refuse(`${shown} is an alias, which stands for another place too`)
    if (typeof step === 'string' && !isEmpty(yaml, node) && !yaml.isMap(node))
      return refuse(`${shown} must be a mapping`)
    if (typeof step !== 'string' && !yaml.isSeq(node)) return refuse(`${shown} must be a list`)
    const next = into(yaml, place, step)
    if (next) place = next
    else if (typeof step !== 'string')
      return refuse(`${shown} has no item \`${typeof step === 'number' ? step : step.name}\``)
    else return restOf(place, path.slice(index))
  }
  return yaml.isAlias(place.node) ? refuse(`${showPath(path)} is an alias, which stands for another place too`) : place
}

function into(yaml: Yaml, { steps, node }: YamlPlace, step: YamlStep): YamlPlace | undefined {
  if (yaml.isSeq(node) && typeof step !== 'string') {
    const index =
      typeof step === 'number' ? step : node.items.findIndex(item => yaml.isMap(item) && item.get('name') === step.name)
    const item = node.items[index] as Node | undefined // of a document that was parsed
    return item && { ok: true, steps: [...steps, index], node: item, pair: undefined, rest: [] }
  }
  if (!yaml.isMap(node) || typeof step !== 'string') return undefined
  const pair = node.items.find(one => yaml.isScalar(one.key) && one.key.value === step)
  const value = (pair?.value ?? undefined) as Node | undefined // of a document that was parsed
  return pair && { ok: true, steps: [...steps, step], node: value, pair, rest: [] }
}

function restOf(place: YamlPlace, path: readonly YamlStep[]): YamlPlace | YamlProblem {
  const at = path.findIndex(step => typeof step !== 'string')
  if (at === -1) return { ...place, rest: path as readonly string[] } // all of them are keys
  return refuse(`${showPath([...(place.steps as readonly string[]), ...path.slice(0, at)])} is missing`) // as above
}

/** Returns true if a node is empty: a key without a value, or a document with only comments. */
export const isEmpty = (yaml: Yaml, node: Node | undefined): boolean =>
  node === undefined || (yaml.isScalar(node) && !node.source && node.type === 'PLAIN')

/** Formats a path for a message: `` `contexts[kind].context` ``. */
export function showPath(path: readonly YamlStep[]): string {
  const steps = path.map(step =>
    typeof step === 'string' ? `.${step}` : `[${typeof step === 'number' ? step : step.name}]`,
  )
  return steps.length === 0 ? 'it' : `\`${steps.join('').slice(1)}\``
}

export const refuse = (problem: string): YamlProblem => ({ ok: false, problem })
