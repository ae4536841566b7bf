import { displayWidth, printable } from '../../compiler/values/printable.ts'
import type { DroppedLine } from '../../explain/dropped-lines.ts'
import type { FieldExplanation, FieldSetting } from '../../explain/explain-field.ts'
import type { BecomesObject, LineRemark } from '../../explain/explain-node.ts'
import type { SettingExplanation } from '../../explain/explain-setting.ts'
import type { KeyRule } from '../../explain/key-rule.ts'
import type { SourceLine } from '../../explain/source-line.ts'
import type { ExplainOutcome } from '../../operations/explain/explain.ts'
import { toTable } from './table.ts'

type Nodes = Extract<ExplainOutcome, { readonly kind: 'lines' }>['nodes']
type Fact = readonly [label: string, text: string]

/** Maximum length of a value or a line of a file in the text, in characters. Longer ones are truncated. */
const MOST = 60
/**
 * Maximum number of values that are printed one by one. If there are more, only the first value of each object is
 * printed; JSON output has all.
 */
const MOST_FIELDS = 24
/** Maximum width of the column of paths. A wider path only moves the rest of its own line. */
const WIDEST = 70

/**
 * Returns the explanation of lines in the files as text: for each line, the values in the manifests that result from
 * it, and the reasons.
 */
export function printLines(
  nodes: Nodes,
  settings: readonly SettingExplanation[],
  dropped: readonly DroppedLine[] = [],
): string {
  const lost = dropped.map(({ path, line, tag, by }) =>
    block(`${placeText(line)}  ${path}`, [
      [tag === '!reset' ? 'removed' : 'replaced', `by \`${tag}\` at ${placeText(by)}`],
    ]),
  )
  const ofSettings = settings.map(({ key, value, line, becomes }) =>
    block(headOf(line, `${key}: ${value}`), becameFacts(becomes)),
  )
  const ofNodes = nodes.map(node =>
    block(headOf(node.line, node.path), [
      ['key', node.path],
      ...becameFacts(node.becomes),
      ...factsOf(node),
      ...remarkFacts(node.remarks),
    ]),
  )
  return [...lost, ...ofSettings, ...ofNodes].join('\n')
}

/**
 * Returns the explanation of values in an object as text: a single value with all known facts, or one line per value if
 * there are several.
 */
export function printFields(fields: readonly FieldExplanation[]): string {
  const [field, second] = fields
  if (field && !second) return printField(field)
  return toTable(fields.map(one => [one.path, short(one.value), originOf(one)]))
}

function printField(field: FieldExplanation): string {
  const [node, ...rest] = field.nodes
  const facts: Fact[] = []
  const { rule } = field
  if (rule) facts.push(['rule', defaultText(rule)])
  if (rule?.rule) facts.push(['', rule.rule.link])
  if (node)
    facts.push([rule ? 'within' : 'from', `${placeText(node.line)}  ${lineText(node.line)}`], ['key', node.path])
  if (node && !rule) facts.push(...factsOf(node))
  facts.push(...field.settings.map((one): Fact => ['setting', settingText(one)]))
  const others = rest.filter(({ isImplied }) => !isImplied)
  facts.push(
    ...others.slice(0, 5).map((one, index): Fact => [index === 0 ? 'also' : '', `${placeText(one.line)}  ${one.path}`]),
  )
  if (others.length > 5) facts.push(['', `and ${others.length - 5} more`])
  return block(`${field.path}: ${short(field.value)}`, facts)
}

/** Returns the origin of a value in one line; empty if it is unknown. */
function originOf({ nodes: [node], settings: [setting], rule }: FieldExplanation): string {
  if (rule) return defaultText(rule)
  if (node) return `${placeText(node.line)}  ${node.path}`
  return setting ? settingText(setting) : ''
}

const defaultText = ({ text, set }: NonNullable<FieldExplanation['rule']>): string =>
  set === undefined ? text : `${text}; set \`${set}\``

const settingText = ({ key, value, from, line }: FieldSetting): string =>
  `${key} ${value}, from ${line ? placeText(line) : from}`

function factsOf({
  through,
  replaced,
  variables,
  rule,
}: Pick<Nodes[number], 'through' | 'replaced' | 'variables' | 'rule'>): readonly Fact[] {
  return [
    ...(through ? [['through', `${through.through}: written at \`${through.path}\``] as const] : []),
    ...replaced.map((line): Fact => ['over', `${placeText(line)}  ${lineText(line)}`]),
    ...variables.map(({ name, origin }): Fact => ['variable', `${name} from ${origin}`]),
    ...(rule ? [['rule', ruleText(rule)] as const] : []),
  ]
}

const FATES = { mapped: '', approximated: 'approximated: ', none: 'no effect: ', refused: 'refused: ', cli: 'devctl: ' }

function ruleText({ key, fate, becomes, note, link }: KeyRule): string {
  const text = [becomes, note].filter(Boolean).join('; ')
  return `${key}: ${FATES[fate]}${text} (${link})`
}

const remarkFacts = (remarks: readonly LineRemark[]): readonly Fact[] =>
  remarks.flatMap(({ code, severity, message, hint }): readonly Fact[] => [
    [severity, `${message} [${code}]`],
    ...(hint === undefined ? [] : [['help', hint] as const]),
  ])

function becameFacts(becomes: readonly BecomesObject[]): readonly Fact[] {
  const isLong = becomes.reduce((sum, { fields = [] }) => sum + fields.length, 0) > MOST_FIELDS
  const rows = becomes.flatMap(({ object, fields }) =>
    fields && isLong && fields.length > 1
      ? [[object, `${fields[0]!.path} and ${fields.length - 1} more`, short(fields[0]!.value)]]
      : fields
        ? fields.map(({ path, value }, index) => [index === 0 ? object : '', path, short(value)])
        : [[object, 'the whole object', '']],
  )
  if (rows.length === 0) return [['became', 'nothing in the manifests']]
  return aligned(rows).map((text, index) => [index === 0 ? 'became' : '', text])
}

/** Aligns cells as columns. A cell that is wider than `WIDEST` only moves the rest of its own line. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries())
      widths[column] = Math.min(WIDEST, Math.max(widths[column] ?? 0, displayWidth(cell)))
  const pad = (cell: string, column: number) => cell + ' '.repeat(Math.max(0, widths[column]! - displayWidth(cell)))
  return rows.map(row => row.map(pad).join('  ').trimEnd())
}

function block(head: string, facts: readonly Fact[]): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length))
  const lines = facts.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`.trimEnd())
  return `${[head, ...lines].map(printable).join('\n')}\n`
}

const headOf = (line: SourceLine | undefined, otherwise: string): string =>
  line ? `${placeText(line)}  ${lineText(line)}` : otherwise

const placeText = ({ file, line }: SourceLine): string => `${file}:${line}`

const lineText = ({ text = '' }: SourceLine): string => (text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text)

/** Returns a value in one line, such as `{name: data, mountPath: /data}`. */
function short(value: unknown): string {
  const text = flow(value)
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text
}

function flow(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@=+-]+( [\w./:@=+-]+)*$/.test(value) ? value : JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([key, one]) => `${key}: ${flow(one)}`)
    .join(', ')}}`
}
