import { UNSAFE } from '../../compiler/values/printable.ts'

/** Matches an unsafe character other than a tab. A text without a match needs no cleaning. */
const UNSAFE_BUT_TABS = new RegExp(`(?!\\t)${UNSAFE.source}`, 'u')

// `COLOUR` matches a sequence that sets the color or weight of letters; `SEQUENCE` matches all other terminal control
// sequences. `WITH_COLOURS` also matches any other control character except tabs.
const COLOUR = '\\u001b\\[[0-9;:]*m'
const SEQUENCE =
  '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?|\\u001b[PX^_][^\\u001b]*(?:\\u001b\\\\)?|\\u001b[ -/]*[0-~]?'
const WITH_COLOURS = new RegExp(`(${COLOUR})|${SEQUENCE}|${UNSAFE_BUT_TABS.source}`, 'gu')
const RESET = '\u001b[0m'

/**
 * Makes a line of a program's output safe to print, so that it cannot move the cursor, clear the screen or rename the
 * terminal. Keeps colors if requested, and resets them at the end of the line.
 */
export function cleanText(text: string, colour: boolean): string {
  if (!UNSAFE_BUT_TABS.test(text)) return text
  let isColoured = false
  const clean = text.replace(WITH_COLOURS, (found, colours: string | undefined) => {
    if (colours === undefined) return found === '\r' ? ' ' : ''
    isColoured ||= colour
    return colour ? colours : ''
  })
  return isColoured ? `${clean}${RESET}` : clean
}
