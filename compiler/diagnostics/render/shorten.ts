import type { Diagnostic } from '../diagnostic.ts'

/**
 * Characters of a quoted value or a word that a message shows: a value of a file may be megabytes
 * long.
 */
const LONGEST = 200
const QUOTED = new RegExp(`\`[^\`\\n]{${LONGEST + 1},}\``, 'g')
const WORD = new RegExp(`[^\\s\`]{${LONGEST + 1},}`, 'g')

/**
 * A diagnostic whose message, notes and help show only the beginning of long values. `mask` takes
 * secrets out first: of one that is cut, the rest could not be found.
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

/** Never half a character. */
const beginning = (text: string): string => text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '')
