/** Maximum width of the first column. A wider cell gets a line of its own, above the text of its second column. */
const MOST = 40

/** Formats rows as two columns; the second is wrapped to `width`. */
export function columns(
  rows: readonly (readonly [string, string])[],
  width: number,
  toLines: (text: string, width: number) => readonly string[] = wrap,
): readonly string[] {
  const first = Math.max(0, ...rows.map(([name]) => name.length).filter(length => length <= MOST))
  const indent = ' '.repeat(first + 4)
  return rows.flatMap(([name, text]) => {
    const [line = '', ...others] = toLines(text, width - first - 4)
    const rest = others.map(one => indent + one)
    if (name.length > first) return [`  ${name}`, indent + line, ...rest]
    return [`  ${name.padEnd(first)}  ${line}`.trimEnd(), ...rest]
  })
}

/** Breaks a text into lines of at most `width` columns, at spaces. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/**
 * Shortens a text that does not fit on one line: to its first clause, by leaving out parentheses, or both. A short
 * default, such as `(default: 5m)`, is kept, even if the text then needs a second line.
 */
export function oneLine(text: string, width: number): readonly string[] {
  const withoutBrackets = text.replace(/ \((?!default: [^()]{1,12}\))[^()]*\)/g, '')
  const shorter = [text, clause(text), withoutBrackets, clause(withoutBrackets)]
  return wrap(shorter.find(one => one.length <= width) ?? shorter.at(-1)!, width)
}

/** Returns the first clause of a text, followed by a short default from one of the later clauses, if any. */
function clause(text: string): string {
  const [first = '', ...others] = text.split('; ')
  const fallback = / \(default: [^()]{1,12}\)/.exec(others.join('; '))?.[0] ?? ''
  return first + fallback
}
