import type { Diagnostic } from '../diagnostic.ts'

/**
 * Maximum number of characters shown of a quoted value or a word in a message, because a value in a file may be
 * megabytes long.
 */
const LONGEST = 200
const QUOTED = new RegExp(`\`[^\`\\n]{${LONGEST + 1},}\``, 'g')
const WORD = new RegExp(`[^\\s\`]{${LONGEST + 1},}`, 'g')

/**
 * Returns a diagnostic whose message, notes and help show only the beginning of long values. Calls `mask` first to
 * remove secrets, because a truncated secret would no longer be recognized.
 */
export function shortened(diagnostic: Diagnostic, mask: (text: string) => string = text => text): Diagnostic {
  const { message, notes, hint, related } = diagnostic
  const short = (text: string) => (text.length > LONGEST ? cut(mask(text)) : text)
  return {
    ...diagnostic,
    message: short(message),
    ...(notes && { notes: notes.map(short) }),
    ...(hint !== undefined && { hint: short(hint) }),
    ...(related && { related: related.map(other => ({ ...other, message: short(other.message) })) }),
  }
}

const cut = (text: string): string =>
  text.replace(QUOTED, quoted => `\`${beginning(quoted.slice(1, -1))}…\``).replace(WORD, word => `${beginning(word)}…`)

/** Returns the beginning of a text without splitting a surrogate pair. */
const beginning = (text: string): string => text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '')
