import { printYaml } from '../../../constructs/yaml.ts'

export interface ValueChange {
  readonly path: string
  /** Value before the change; absent if it did not exist. */
  readonly before?: unknown
  readonly after?: unknown
  /** The text to show in place of the two, where they are secret. */
  readonly masked?: string
}

/** Lines of one value; what is longer is shown at its beginning. */
const LONGEST = 40
/** Equal lines beside what differs. */
const CONTEXT = 2
/** Characters of a line. */
const WIDTH = 500

/**
 * A value that changes, as lines of a `diff` block: its path, what was there and what comes. Long
 * texts are cut to the part that differs.
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

/** A text line by line, anything else as the manifests have it. */
function linesOf(value: unknown): readonly string[] {
  if (value === undefined) return []
  const text = typeof value === 'string' && value.includes('\n') ? value : printYaml(value)
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}

const short = (text: string): string => {
  const line = text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/\p{Cc}/gu, ' ')
  return line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line
}
