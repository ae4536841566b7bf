import { minorLosses } from '../compiler/compose/keys/losses.ts'
import { servicesAsJobs } from '../compiler/compose/load/jobs.ts'
import { catalogue, type Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { formatPath, type ModelPath } from '../compiler/schema/model-path.ts'
import type { Span } from '../compiler/text/source.ts'
import type { MapTree } from '../compiler/text/tree.ts'
import { keyRule, ruleAt } from './key-rule.ts'
import { childrenOf, type ModelNode, nodesBelow } from './model-node.ts'

/** Numbers of keys in the files by their effect in Kubernetes, and the losses in detail. */
export interface LossReport {
  /** Number of keys that are mapped to Kubernetes, or that only devctl uses. */
  readonly mapped: number
  readonly approximated: number
  /** Number of keys without effect. */
  readonly none: number
  readonly losses: readonly LostKey[]
}

/** Key that is approximated or has no effect. */
export interface LostKey {
  /** Path in the model, such as `services.web.cpuset`. */
  readonly key: string
  readonly file: string
  /** Line and column, starting at 1. */
  readonly line: number
  readonly column: number
  readonly fate: 'approximated' | 'none'
  /** Equivalent in Kubernetes, in Markdown; empty if there is none. */
  readonly becomes: string
  /** Message of the diagnostic, which says what is lost. */
  readonly message: string
  /** Reason for the loss, if the rule about the key gives one. */
  readonly why?: string
  /** Advice for the user. */
  readonly hint?: string
  readonly severity: Diagnostic['severity']
}

/**
 * Counts the keys of the loaded model by their effect in Kubernetes, and lists the losses that the diagnostics report.
 * A key without a diagnostic counts as mapped, even if its row in the table says that the key has no effect, because
 * the value of the key possibly asks for no effect.
 */
export function lossReport(model: MapTree | undefined, diagnostics: readonly Diagnostic[]): LossReport {
  if (!model) return { mapped: 0, approximated: 0, none: 0, losses: [] }
  const tree = servicesAsJobs(model)
  const keys = keysBelow({ path: [], tree })
  const all = [...nodesBelow({ path: [], tree })].filter(({ isImplied }) => !isImplied)
  const found = diagnostics.flatMap(one => {
    if (!isLoss(one)) return []
    const node = nodeOf(one.span, all)
    const counted = node && keys.find(({ path }) => isWithin(path, node.path) || isWithin(node.path, path))
    return [{ loss: toLoss(node, one, one.span), counted }]
  })
  const lost = new Map(found.flatMap(({ loss, counted }) => (counted ? [[counted, loss.fate] as const] : [])))
  const count = (fate: LostKey['fate']) => [...lost.values()].filter(one => one === fate).length
  return {
    mapped: keys.length - lost.size,
    approximated: count('approximated'),
    none: count('none'),
    losses: found.map(({ loss }) => loss),
  }
}

/** True if a report about the diagnostics lists a loss. */
export const hasLosses = (diagnostics: readonly Diagnostic[]): boolean => diagnostics.some(isLoss)

const isLoss = (one: Diagnostic): one is Diagnostic & { readonly span: Span } =>
  one.span !== undefined && (catalogue.get(one.code)?.loss === true || minorLosses.has(one.code))

/** Returns the counts in one line; undefined if nothing is lost. */
export function lossSummary({ mapped, approximated, none }: LossReport): string | undefined {
  if (approximated + none === 0) return undefined
  const total = mapped + approximated + none
  const parts = [
    `${mapped} of ${total} keys mapped`,
    ...(approximated > 0 ? [`${approximated} approximated`] : []),
    ...(none > 0 ? [`${none} without effect`] : []),
  ]
  return parts.join(', ')
}

/**
 * Lists the keys that the files set and that have a row in the table of keys. Excludes keys that only contain other
 * keys, and services and other resources themselves.
 */
function keysBelow(node: ModelNode): readonly ModelNode[] {
  const below = childrenOf(node)
    .filter(({ isImplied }) => !isImplied)
    .flatMap(keysBelow)
  if (below.length > 0 || !ruleAt(node.path)) return below
  return node.path.length === 2 && NAMED.has(node.path[0]) ? [] : [node]
}

const NAMED = new Set<unknown>(['services', 'jobs', 'volumes', 'networks'])

/**
 * Returns the node whose key or value has exactly this position; else the innermost node whose value contains the
 * position. Undefined if there is none.
 */
function nodeOf(span: Span, nodes: readonly ModelNode[]): ModelNode | undefined {
  const isAt = (own: Span | undefined) => own?.file === span.file && own.start === span.start && own.end === span.end
  const contains = (own: Span) => own.file === span.file && own.start <= span.start && span.end <= own.end
  return (
    nodes.find(({ key, tree }) => isAt(key) || isAt(tree.span)) ?? nodes.findLast(({ tree }) => contains(tree.span))
  )
}

const isWithin = (inner: ModelPath, outer: ModelPath): boolean => outer.every((step, index) => step === inner[index])

function toLoss(node: ModelNode | undefined, { message, hint, severity }: Diagnostic, span: Span): LostKey {
  const rule = node && keyRule(node.path)
  const fate = rule?.fate === 'none' ? 'none' : 'approximated'
  return {
    key: node ? formatPath(node.path) : '',
    file: span.file.path,
    ...span.file.position(span.start),
    fate,
    becomes: fate === 'none' ? '' : (rule?.becomes ?? ''),
    message,
    ...(rule?.note !== undefined && fate === 'none' && { why: rule.note }),
    ...(hint !== undefined && { hint }),
    severity,
  }
}
