import type { Loaded } from '../compiler/compose/load/loaded.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { formatPath } from '../compiler/schema/model-path.ts'
import type { Span } from '../compiler/text/source.ts'
import type { Tree } from '../compiler/text/tree.ts'
import { type FieldKey, pathText } from '../environment/plan/comparison.ts'
import { type Influence, type Influences, isSourceOf, type ShownObject } from './influences.ts'
import { type KeyRule, keyRule } from './key-rule.ts'
import { isBelow, valueAt } from './leaves.ts'
import { type ModelNode, nodesBelow } from './model-node.ts'
import { type SourceLine, sourceLine } from './source-line.ts'
import { type Detour, detourOf } from './written-at.ts'

/** Explanation of a value of the Compose files: its lines, its rule, and the objects that it became. */
export interface NodeExplanation {
  /** Path in the model, such as `services.web.ports[0]`. */
  readonly path: string
  readonly line: SourceLine
  /** True if no line contains the value, because it is a default of Compose. */
  readonly isImplied?: true
  /** Place where the value is written, if that is not its own key. */
  readonly through?: Detour
  /** Lines with values that this value replaced, newest first. */
  readonly replaced: readonly SourceLine[]
  /** Variables in the value, with the origins of their values: `the shell`, `.env:3`, `its default`. */
  readonly variables: readonly { readonly name: string; readonly origin: string }[]
  readonly becomes: readonly BecomesObject[]
  readonly rule?: KeyRule
  /** Diagnostics about the value, for example about parts that are lost. */
  readonly remarks: readonly LineRemark[]
}

/** Parts of an object that depend on a value. */
export interface BecomesObject {
  /** Name such as `deployment/web`. */
  readonly object: string
  /** Parts of the object; absent if the whole object depends on the value. */
  readonly fields?: readonly { readonly path: string; readonly value: unknown }[]
}

export interface LineRemark {
  readonly code: string
  readonly severity: Diagnostic['severity']
  readonly message: string
  readonly hint?: string
}

/** Compilation, and the data needed to explain it. */
export interface Explained {
  readonly loaded: Loaded
  readonly influences: Influences
  readonly diagnostics: readonly Diagnostic[]
}

/** Explains a node of the model: its line, what it became and by which rule, and what is lost. */
export function explainNode(node: ModelNode, { loaded, influences, diagnostics }: Explained): NodeExplanation {
  const rule = keyRule(node.path)
  const through = node.isImplied ? undefined : detourOf(node, loaded)
  const at = (span: Span) => sourceLine(span, loaded.secrets)
  return {
    path: formatPath(node.path),
    line: at(node.key && node.tree.kind !== 'scalar' ? node.key : node.tree.span),
    ...(node.isImplied && { isImplied: true }),
    ...(through && { through }),
    replaced: replacedIn(node).map(at),
    variables: variablesIn(node.tree),
    becomes: becomesOf(influenceOf(node, influences), influences),
    ...(rule && { rule }),
    remarks: remarksOn(node, diagnostics),
  }
}

/**
 * Returns the influence of a node. An object that is written for the node, but also has other sources, exists without
 * the node and may be missing from the influence; all values of such an object are added.
 */
export function influenceOf(node: ModelNode, influences: Influences): Influence {
  const source = formatPath(node.path)
  const found = new Map(influences.ofNode(node))
  for (const [id, object] of influences.objects) {
    const isWhole = node.path.length === 2 || object.manifest.source.endsWith(`#${source}`)
    if (isWhole && !found.has(id) && isSourceOf(source, object)) found.set(id, new Set(object.leaves.keys()))
  }
  return found
}

/** Returns the objects, or parts of objects, that an influence contains. */
export function becomesOf(influence: Influence, { objects }: Influences): readonly BecomesObject[] {
  return [...influence].map(([id, paths]) => {
    const shown = objects.get(id)!
    if (paths.size === shown.leaves.size) return { object: shown.name }
    return { object: shown.name, fields: wholeParts(shown, paths) }
  })
}

/**
 * Returns the parts of an object that paths cover, with their values. If the paths include all values below a part,
 * only that part is returned.
 */
function wholeParts({ manifest, leaves }: ShownObject, paths: ReadonlySet<string>) {
  const others = [...leaves].flatMap(([path, { keys }]) => (paths.has(path) ? [] : [keys]))
  const found = new Map<string, { readonly path: string; readonly value: unknown }>()
  for (const [path, leaf] of leaves) {
    if (!paths.has(path)) continue
    const keys = shortest(leaf.keys, others)
    const text = pathText(keys)
    found.set(text, { path: text, value: valueAt(manifest.object, keys) })
  }
  return [...found.values()]
}

function shortest(keys: readonly FieldKey[], others: readonly (readonly FieldKey[])[]): readonly FieldKey[] {
  for (let length = 1; length < keys.length; length++) {
    const part = keys.slice(0, length)
    if (!others.some(other => isBelow(other, part))) return part
  }
  return keys
}

/**
 * Returns the positions of the values that a node replaced, each line only once. For a key, includes the values that
 * its members replaced.
 */
function replacedIn(node: ModelNode): readonly Span[] {
  const within = node.path.length > 2 ? [...nodesBelow(node)] : [node]
  const lines = new Map<string, Span>()
  for (const span of within.flatMap(({ tree }) => tree.replaced ?? [])) {
    const line = `${span.file.location}:${span.file.position(span.start).line}`
    if (!lines.has(line)) lines.set(line, span)
  }
  return [...lines.values()]
}

function variablesIn(tree: Tree): NodeExplanation['variables'] {
  const found = new Map<string, string>()
  for (const { tree: one } of nodesBelow({ path: [], tree }))
    if (one.kind === 'scalar') for (const { name, origin } of one.variables ?? []) found.set(name, origin)
  return [...found].map(([name, origin]) => ({ name, origin }))
}

function remarksOn(node: ModelNode, diagnostics: readonly Diagnostic[]): readonly LineRemark[] {
  if (node.isImplied) return []
  // The diagnostics inside a service are about its keys.
  const inside = node.path.length <= 2 ? [] : [...nodesBelow(node)].filter(({ isImplied }) => !isImplied)
  const spans = [node.key, ...inside.map(({ tree }) => tree.span)]
  const covers = (span: Span) =>
    spans.some(one => one && one.file === span.file && one.start <= span.start && span.end <= one.end)
  return diagnostics.flatMap(({ code, severity, message, hint, span }) =>
    span && covers(span) ? [{ code, severity, message, ...(hint !== undefined && { hint }) }] : [],
  )
}
