/** A line of a shell up to the cursor, as arguments without quotes. */
export interface ShellWords {
  /** The program and the arguments before the last one. */
  readonly before: readonly string[]
  /** The last argument, which may be empty. */
  readonly current: string
  /** Quote in which the line ends; empty outside of quotes. */
  readonly quote: '' | "'" | '"'
}

/**
 * Quoting rules of a shell. `escape` is the escape character, `inDouble` has the characters that can be escaped inside
 * double quotes.
 */
interface Syntax {
  readonly escape: string
  readonly inDouble: string
  /** True if a quote is written twice inside quotes of the same kind. */
  readonly doublesQuotes: boolean
}

const BASH: Syntax = { escape: '\\', inDouble: '"\\$`', doublesQuotes: false }
const POWERSHELL: Syntax = { escape: '`', inDouble: '"`$', doublesQuotes: true }

/**
 * Splits a line into arguments. Variables and substitutions stay as they are: completing a line must not run anything.
 */
export function splitLine(line: string, shell: 'bash' | 'powershell'): ShellWords {
  const { escape: escaping, inDouble, doublesQuotes } = shell === 'bash' ? BASH : POWERSHELL
  const before: string[] = []
  let current: string | undefined
  let quote: ShellWords['quote'] = ''
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!
    const next = line[at + 1]
    if (quote === '' && /\s/.test(character)) {
      if (current !== undefined) before.push(current)
      current = undefined
    } else if (character === escaping && quote !== "'" && (quote === '' || inDouble.includes(next ?? ' '))) {
      // The character after it stands for itself; the line may end here.
      current = (current ?? '') + (next ?? '')
      at++
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character
      current ??= ''
    } else if (character === quote) {
      if (doublesQuotes && next === quote) {
        current += character
        at++
      } else quote = ''
    } else current = (current ?? '') + character
  }
  return { before, current: current ?? '', quote }
}

/**
 * Quotes a text for bash, to be inserted at the end of a line. `quote` is the quote that is open at the end of the
 * line.
 */
export function quoteForBash(text: string, quote: ShellWords['quote']): string {
  if (quote === "'") return text.replaceAll("'", `'\\''`)
  if (quote === '"') return text.replace(/["\\$`]/g, '\\$&')
  return text.replace(/[^\w@%+=:,./~^-]|^[~^]/g, '\\$&')
}

/** Quotes a text for PowerShell. */
export function quoteForPowershell(text: string): string {
  return /^[\w+.:/=~\\-][\w+.:/=~@,%\\-]*$/.test(text) && !text.includes(',') ? text : `'${text.replaceAll("'", "''")}'`
}
