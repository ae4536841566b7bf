/** Width of the first column beyond which its text gets a line of its own. */
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
 * Shortens a text to its first clause, and leaves out what is in brackets, if that is necessary for one line. A default
 * of a word or two stays, in a second line if it does not fit.
 */
export function oneLine(text: string, width: number): readonly string[] {
  const withoutBrackets = text.replace(/ \((?!default: [^()]{1,12}\))[^()]*\)/g, '')
  const shorter = [text, clause(text), withoutBrackets, clause(withoutBrackets)]
  return wrap(shorter.find(one => one.length <= width) ?? shorter.at(-1)!, width)
}

/** Returns the first clause, with the short default that a later one has. */
function clause(text: string): string {
  const [first = '', ...others] = text.split('; ')
  const fallback = / \(default: [^()]{1,12}\)/.exec(others.join('; '))?.[0] ?? ''
  return first + fallback
}
