import { isEncryptedText } from './sops/encrypted-text.ts'

/** A line of a YAML or JSON text. The key is empty if the line has none. */
interface Line {
  /** Column at which the line starts, before the dashes of a list. */
  readonly indent: number
  /** Column at which the key starts, after the dashes. */
  readonly column: number
  readonly key: string
  /** Text after the key, without a comment. */
  readonly value: string
}

/** A map whose lines are being read. */
interface OpenMap {
  readonly column: number
  /** Line number of `kind: Secret`, from 1; undefined if the map has no such line. */
  secret: number | undefined
  holdsValues: boolean
  /** True if the previous line was `data:` alone: the lines indented deeper are its values. */
  isWaiting: boolean
  /** Map to which the lines of this map belong as values (`data:`, `stringData:`); undefined for other maps. */
  readonly valuesOf: OpenMap | undefined
}

/**
 * Returns the line numbers, from 1, of `kind: Secret` in YAML or JSON text, for Secrets that contain values (`data`,
 * `stringData`): documents, list items, and Secrets embedded in a text value. Works on lines and their indentation
 * instead of a parser, so that parsers cannot disagree and a syntax error cannot hide a Secret. Ignores values that
 * SOPS has encrypted.
 */
export function secretDocumentsIn(text: string): readonly number[] {
  if (!text.includes('Secret')) return []
  const found: number[] = []
  const open: OpenMap[] = []
  const closeDeeperThan = (indent: number) => {
    while (open.length > 0 && open.at(-1)!.column > indent) {
      const { secret, holdsValues } = open.pop()!
      if (secret !== undefined && holdsValues) found.push(secret)
    }
  }
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (isFlowSecret(line)) found.push(index + 1)
    if (/^\s*(?:#.*)?$/.test(line)) continue
    const read = readLine(line)
    const last = open.at(-1)
    const waiting = last?.isWaiting && read.indent > last.column ? last : undefined
    if (last) last.isWaiting = false
    closeDeeperThan(/^(?:---|\.\.\.)(?:\s|$)/.test(line) ? -1 : read.indent)
    const valuesOf = waiting ?? open.at(-1)?.valuesOf
    if (valuesOf && !isEncryptedText(bare(read))) valuesOf.holdsValues = true
    if (read.key === '') continue
    if (open.at(-1)?.column !== read.column)
      open.push({ column: read.column, secret: undefined, holdsValues: false, isWaiting: false, valuesOf })
    addTo(open.at(-1)!, read, index + 1)
  }
  closeDeeperThan(-1)
  return found.sort((a, b) => a - b)
}

function addTo(map: OpenMap, { key, value }: Line, line: number): void {
  if (key === 'kind' && /^["']?Secret["']?,?$/.test(value)) map.secret ??= line
  if (key !== 'data' && key !== 'stringData') return
  if (value === '' || value === '{') map.isWaiting = true
  else if (!/^(?:\{\s*\}|null|~|""|''),?$/.test(value)) map.holdsValues = true
}

/** Returns the value of a line without quotes; undefined for a line without a key, whose value may be incomplete. */
const bare = ({ key, value }: Line): unknown => (key === '' ? undefined : value.replace(/^(["'])(.*)\1,?$/, '$2'))

const LINE = /^(\s*)((?:- +)*)(?:(["']?)([\w.-]+)\3\s*:(?:\s+(.*))?)?$/

function readLine(text: string): Line {
  const [, blanks, dashes = '', , key = '', rest = ''] = LINE.exec(text) ?? []
  const indent = blanks?.length ?? /^\s*/.exec(text)![0].length
  return { indent, column: indent + dashes.length, key, value: rest.replace(/(?:^|\s)#.*$/, '').trim() }
}

/** Returns true if a line contains a Secret with its values, as in JSON that is not indented. */
const isFlowSecret = (line: string): boolean =>
  /["']?\bkind\b["']?\s*:\s*["']?Secret\b["']?\s*[,}]/.test(line) &&
  /["']?\b(?:data|stringData)\b["']?\s*:\s*\{\s*[^\s}]/.test(line)
