import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { jsonText, printable } from '../../compiler/values/printable.ts'
import { agoText } from '../../environment/ago.ts'
import type { ObjectDiff, ValueDiff } from '../../environment/plan/diff.ts'

export interface DiffPrinting {
  readonly colour: boolean
  /** Current time in milliseconds since 1970. */
  readonly now: number
  /**
   * Returns the position of a changed object in the Compose files, such as `compose.yaml:24 services.api`; undefined if
   * it is unknown.
   */
  readonly placeOf: (diff: ObjectDiff) => string | undefined
}

const MARKS = { create: '+', update: '~', replace: '!', delete: '-', keep: ' ' } as const
const COLOURS = { create: 32, update: 33, replace: 35, delete: 31, keep: 2 } as const

/** Returns a line with the number of differing objects and the number of unchanged objects. */
export const differingText = (differing: number, unchanged: number): string =>
  differing === 0
    ? `nothing differs (${plural(unchanged, 'object')})`
    : `${plural(differing, 'object')} ${differing === 1 ? 'differs' : 'differ'} (${unchanged} unchanged)`

/** Formats the differences as text. */
export async function diffText(diffs: readonly ObjectDiff[], printing: DiffPrinting): Promise<string> {
  const { structuredPatch } = await import('diff')
  const paint = (code: number, text: string) => (printing.colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const width = Math.max(0, ...diffs.map(({ object }) => object.length))
  const lines: string[] = []
  for (const diff of diffs) {
    const said = diff.consequence ?? printing.placeOf(diff)
    const head = printable(said === undefined ? diff.object : `${diff.object.padEnd(width)}  ${said}`)
    lines.push(` ${paint(COLOURS[diff.action], MARKS[diff.action])} ${head}`)
    for (const value of diff.values) lines.push(...valueLines(value))
  }
  return lines.map(line => `${line}\n`).join('')

  function valueLines({ path, before, after, masked, by }: ValueDiff): readonly string[] {
    const who =
      by &&
      paint(2, `  set by ${printable(by.manager)}${by.time ? ` ${agoText(printing.now - Date.parse(by.time))}` : ''}`)
    const named = (text: string) => `     ${printable(path)}${text}${who ?? ''}`
    if (masked !== undefined) return [named(`: ${masked}`)]
    const texts = [before, after].map(valueText)
    const [old, fresh] = texts
    if (
      old !== undefined &&
      fresh !== undefined &&
      texts.every(text => !text!.includes('\n') && text!.length < 30) &&
      typeof before !== 'string'
    )
      return [named(`: ${old} → ${fresh}`)]
    const isLong = texts.some(text => text?.includes('\n'))
    const changed =
      isLong && old !== undefined && fresh !== undefined
        ? structuredPatch('', '', old, fresh, '', '', { context: 1 }).hunks.flatMap(({ lines }) => lines)
        : [...marked('-', old), ...marked('+', fresh)]
    return [named(''), ...changed.map(line => `       ${paintChange(line)}`)]
  }

  function paintChange(line: string): string {
    const shown = `${line[0]} ${line.slice(1)}`
    return line.startsWith('-') ? paint(31, shown) : line.startsWith('+') ? paint(32, shown) : shown
  }
}

const marked = (mark: '-' | '+', text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split('\n').map(line => `${mark}${line}`)

/** Returns a string unchanged, and any other value as JSON; undefined for a missing value. */
function valueText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return value.split('\n').map(printable).join('\n')
  const short = jsonText(value)
  return short.length <= 80 ? short : jsonText(value, 2)
}
