import { UNSAFE } from '../../compiler/values/printable.ts'

/** Everything unsafe but tabs, for a text whose unsafe characters are removed. */
const UNSAFE_BUT_TABS = new RegExp(`(?!\\t)${UNSAFE.source}`, 'u')

// A sequence for the colours and weights of letters; any other sequence that a terminal obeys; any
// other control character, tabs aside.
const COLOUR = '\\u001b\\[[0-9;:]*m'
const SEQUENCE =
  '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?|\\u001b[PX^_][^\\u001b]*(?:\\u001b\\\\)?|\\u001b[ -/]*[0-~]?'
const WITH_COLOURS = new RegExp(`(${COLOUR})|${SEQUENCE}|${UNSAFE_BUT_TABS.source}`, 'gu')
const RESET = '\u001b[0m'

/**
 * A line of a program's output as it may be printed: nothing in it moves the cursor, clears the
 * screen or renames the terminal. Colours stay when they are wanted, and end with the line.
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
