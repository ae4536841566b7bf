/** A character as a terminal shows it: the text to print and the columns it takes. */
export interface Cell {
  readonly text: string
  readonly width: number
  /** Offset of the character in the text it came from, in UTF-16 units. */
  readonly at: number
}

// Controls would move the cursor or colour the terminal, bidirectional controls would show another
// order than the file has, and lone surrogates cannot be written as UTF-8.
export const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Surrogate}]/u
/** Line ends, tabs and colours; else what is unsafe. */
const KEPT_OR_UNSAFE = new RegExp(`(\\n|\\t|\\u001b\\[(?:0|1|2|22|39|(?:1;)?3[0-7])m)|${UNSAFE.source}`, 'gu')
/** JSON.stringify sees to the others. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g
const COMBINING = /[\p{Mn}\p{Me}\u1160-\u11ff]/u
const WIDE =
  /[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u
const NARROW = /[\uff61-\uffdc\u{1f1e6}-\u{1f1ff}]/u

const TAB_STOP = 4

/**
 * The characters of one line, tabs turned into blanks up to the next multiple of four columns,
 * unsafe characters into `\u{…}`.
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

/**
 * The text with every character that a terminal would obey instead of show written as `\n`, `\t` or
 * `\u{…}`.
 */
export function printable(text: string): string {
  if (!UNSAFE.test(text)) return text
  let out = ''
  for (const character of text) {
    out += character === '\n' ? '\\n' : character === '\t' ? '\\t' : printableCharacter(character)
  }
  return out
}

/**
 * Returns the same as `printable`, for a text of several lines: line ends and tabs stay, and so do the colors and font
 * weights that devctl's own printers write.
 */
export function printableText(text: string): string {
  if (!UNSAFE.test(text)) return text
  return text.replaceAll(KEPT_OR_UNSAFE, (found, kept: string | undefined) => kept ?? printableCharacter(found))
}

/**
 * JSON without the characters that a terminal would obey, or that show another order than the text
 * has; `indent` as for JSON.stringify.
 */
export function jsonText(value: unknown, indent?: number): string {
  return (JSON.stringify(value, undefined, indent) ?? 'null').replaceAll(
    UNSAFE_IN_JSON,
    found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The columns that a text takes on a terminal. */
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
