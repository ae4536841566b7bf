import { printYaml } from '../../../constructs/yaml.ts'

export interface ValueChange {
  readonly path: string
  /** Value before the change; absent if it did not exist. */
  readonly before?: unknown
  readonly after?: unknown
  /** Text to show instead of both values, if they are secret. */
  readonly masked?: string
}

/** Maximum number of lines of one value; only the beginning of a longer value is shown. */
const LONGEST = 40
/** Number of equal lines shown around a difference. */
const CONTEXT = 2
/** Maximum length of a line, in characters. */
const WIDTH = 500

/**
 * Returns a changed value as lines of a `diff` block: its path, the old value and the new value. Long texts are reduced
 * to the part that differs.
 */
export function diffBlock({ path, before, after, masked }: ValueChange): readonly string[] {
  const head = `@@ ${path} @@`
  if (masked !== undefined) return [head, `! ${short(masked)}`]
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const most = Math.min(old.length, fresh.length)
  let start = 0
  while (start < most && old[start] === fresh[start]) start++
  let end = 0
  while (end < most - start && old.at(-1 - end) === fresh.at(-1 - end)) end++
  const lead = old.slice(Math.max(0, start - CONTEXT), start).map(line => `  ${line}`)
  const tail = old.slice(old.length - end, old.length - end + CONTEXT).map(line => `  ${line}`)
  const removed = old.slice(start, old.length - end).map(line => `- ${line}`)
  const added = fresh.slice(start, fresh.length - end).map(line => `+ ${line}`)
  return [head, ...lead, ...cut(removed), ...cut(added), ...tail].map(short)
}

function cut(lines: readonly string[]): readonly string[] {
  return lines.length <= LONGEST ? lines : [...lines.slice(0, LONGEST), `  … ${lines.length - LONGEST} more lines`]
}

/** Returns a text line by line, and any other value as the manifests print it. */
function linesOf(value: unknown): readonly string[] {
  if (value === undefined) return []
  const text = typeof value === 'string' && value.includes('\n') ? value : printYaml(value)
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}

const short = (text: string): string => {
  const line = text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/\p{Cc}/gu, ' ')
  return line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line
}
