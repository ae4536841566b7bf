import { docsLink } from '../compiler/compose/keys/docs-link.ts'
import { rowOf, type TableRow, tableRows } from '../compiler/compose/keys/lookup.ts'
import { formatPath, type ModelPath } from '../compiler/schema/model-path.ts'
import type { Fate, Row } from '../compiler/schema/shape.ts'

/** Rule about a key, from docs/compose.md or a page in docs/compose. */
export interface KeyRule {
  /** Key as in the table, such as `services.*.ports[].target`. */
  readonly key: string
  readonly fate: Fate
  readonly becomes: string
  readonly note?: string
  /** Parts of the key; `*` and `[]` stand for any name and any index. */
  readonly path: readonly string[]
  /** Section of the page, such as `docs/compose/services.md#network`. */
  readonly link: string
}

/**
 * Returns the rule about a path of the model. If the table has no row for the path, returns the rule of the closest key
 * above it; undefined if there is none.
 */
export function keyRule(path: ModelPath): KeyRule | undefined {
  for (let length = path.length; length > 0; length--) {
    const rule = ruleAt(path.slice(0, length))
    if (rule) return rule
  }
  return undefined
}

/** Returns the rule about exactly this path; undefined if the table has no row for the path. */
export function ruleAt(path: ModelPath): KeyRule | undefined {
  return ownRuleAt(path) ?? (path[0] === 'jobs' && path.length > 2 ? ownRuleAt(asOfService(path)) : undefined)
}

/**
 * Returns a path in a job as the path of the same key in a service; any other path unchanged. The table lists keys that
 * jobs and services share only for services.
 */
const asOfService = (path: ModelPath): ModelPath => (path[0] === 'jobs' ? ['services', ...path.slice(1)] : path)

function ownRuleAt(path: ModelPath): KeyRule | undefined {
  const row = rowOf(path.map(String))
  const listed =
    row &&
    table()
      .byRow.get(row)
      ?.find(one => fits(one.path, path))
  return listed && toRule(listed.path, listed.row)
}

interface Table {
  readonly rows: readonly TableRow[]
  /** Rows of the table for each rule, because several keys can share a rule. */
  readonly byRow: ReadonlyMap<Row, readonly TableRow[]>
}

let known: Table | undefined
const table = (): Table => (known ??= readTable())

function readTable(): Table {
  const rows = tableRows()
  const byRow = new Map<Row, TableRow[]>()
  for (const one of rows) {
    const same = byRow.get(one.row)
    if (same) same.push(one)
    else byRow.set(one.row, [one])
  }
  return { rows, byRow }
}

function fits(pattern: readonly string[], path: ModelPath): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, index) => {
      const own = path[index]!
      return step === '*' || step === own || (step === '[]' && typeof own === 'number')
    })
  )
}

function toRule(path: readonly string[], { fate, becomes, note }: Row): KeyRule {
  const key = formatPath(path).replaceAll('"', '').replaceAll('.[]', '[]')
  return { key, path, fate, becomes, ...(note !== undefined && { note }), link: docsLink(path) }
}

/**
 * Returns the rule of the key at or below `within` that would set a field, such as `stop_grace_period` for
 * `terminationGracePeriodSeconds`. If the texts of several rules mention the field, the rule with the longest matching
 * end of the field's path is returned. Undefined if no text mentions the field.
 */
export function ruleForField(fields: readonly string[], within: ModelPath): KeyRule | undefined {
  const wanted = [within, asOfService(within)]
  let best: { readonly length: number; readonly row: TableRow } | undefined
  for (const row of table().rows) {
    if (row.row.fate === 'none' || row.row.fate === 'refused' || row.path.length < 3) continue
    if (!wanted.some(one => fits(row.path.slice(0, one.length), one))) continue
    if (row.path[2] === 'pre_start') continue
    for (const [, token] of row.row.becomes.matchAll(/`([\w[\].]+)`/g)) {
      const names = token!.replaceAll('[]', '').split('.')
      if (names.length > (best?.length ?? 0) && names.every((name, at) => fields.at(at - names.length) === name))
        best = { length: names.length, row }
    }
  }
  return best && toRule(best.row.path, best.row.row)
}
