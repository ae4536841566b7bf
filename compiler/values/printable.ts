/** A character as a terminal displays it, with the text to print and the number of columns it takes. */
export interface Cell {
  readonly text: string
  readonly width: number
  /** Offset of the character in the original text, in UTF-16 units. */
  readonly at: number
}

// Control characters would move the cursor or color the terminal, bidirectional controls would change the displayed
// order, and lone surrogates cannot be encoded as UTF-8.
export const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Surrogate}]/u
/** Matches line ends, tabs and colors, which are kept, and all unsafe characters. */
const KEPT_OR_UNSAFE = new RegExp(`(\\n|\\t|\\u001b\\[(?:0|1|2|22|39|(?:1;)?3[0-7])m)|${UNSAFE.source}`, 'gu')
/** Unsafe characters that JSON.stringify does not escape. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g
const COMBINING = /[\p{Mn}\p{Me}\u1160-\u11ff]/u
const WIDE =
  /[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u
const NARROW = /[\uff61-\uffdc\u{1f1e6}-\u{1f1ff}]/u

const TAB_STOP = 4

/**
 * Returns the characters of one line. Replaces tabs with blanks up to the next multiple of four columns, and unsafe
 * characters with `\u{…}`.
 */
export function toCells(text: string): readonly Cell[] {
  const cells: Cell[] = []
  let at = 0
  let column = 0
  for (const character of text) {
    const cell = character === '\t' ? ' '.repeat(TAB_STOP - (column % TAB_STOP)) : printableCharacter(character)
    const width = cell.length > 1 && cell !== character ? cell.length : characterWidth(cell)
    cells.push({ text: cell, width, at })
    at += character.length
    column += width
  }
  return cells
}

/** Replaces every character that a terminal would interpret rather than display with `\n`, `\t` or `\u{…}`. */
export function printable(text: string): string {
  if (!UNSAFE.test(text)) return text
  let out = ''
  for (const character of text) {
    out += character === '\n' ? '\\n' : character === '\t' ? '\\t' : printableCharacter(character)
  }
  return out
}

/** Makes a text of several lines printable, like `printable`, but keeps its line ends. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n')

/**
 * Makes a text of several lines printable, like `printable`, but keeps line ends, tabs, and the colors and font weights
 * that devctl's own printers write.
 */
export function printableText(text: string): string {
  if (!UNSAFE.test(text)) return text
  return text.replaceAll(KEPT_OR_UNSAFE, (found, kept: string | undefined) => kept ?? printableCharacter(found))
}

/**
 * Formats a value as JSON, without characters that a terminal would interpret or that change the displayed order.
 * `indent` as in JSON.stringify.
 */
export function jsonText(value: unknown, indent?: number): string {
  return (JSON.stringify(value, undefined, indent) ?? 'null').replaceAll(
    UNSAFE_IN_JSON,
    found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Returns the number of columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  let width = 0
  for (const cell of toCells(text)) width += cell.width
  return width
}

function printableCharacter(character: string): string {
  return UNSAFE.test(character) ? `\\u{${character.codePointAt(0)!.toString(16)}}` : character
}

function characterWidth(character: string): number {
  if (character.length === 1 && character < '\u0300') return 1
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) && !NARROW.test(character) ? 2 : 1
}
