/**
 * Value of the quote `$'…'`, and the offset after the closing quote. `value` is undefined if the content contains NUL
 * or is not UTF-8.
 */
export interface AnsiCQuote {
  readonly value: string | undefined
  readonly end: number
}

const SINGLE: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, e: 27, E: 27 }
const ESCAPE = /\\(?:x([\da-fA-F]{1,2})|([0-7]{1,3})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|c(.)|(.))/suy

/** Reads the ANSI-C quote (`$'…'`) of bash at an offset; returns undefined if it is not closed. */
export function readAnsiCQuote(text: string, start: number): AnsiCQuote | undefined {
  const bytes: number[] = []
  let isText = true
  let at = start + 2
  while (at < text.length) {
    if (text[at] === "'") return { value: isText ? decoded(bytes) : undefined, end: at + 1 }
    ESCAPE.lastIndex = at
    const escaped = ESCAPE.exec(text)
    const character = escaped ? '' : String.fromCodePoint(text.codePointAt(at)!)
    const found = escaped ? bytesOf(escaped) : encoded(character)
    // An argument of a program cannot contain NUL.
    if (found === undefined || found.includes(0)) isText = false
    else bytes.push(...found)
    at += escaped ? escaped[0].length : character.length
  }
  return undefined
}

/** Returns the bytes of an escape; undefined if its number is not a character. */
function bytesOf([, hex, octal, short, long, control, other = '']: RegExpExecArray): readonly number[] | undefined {
  if (hex !== undefined) return [Number.parseInt(hex, 16)]
  if (octal !== undefined) return [Number.parseInt(octal, 8) & 0xff]
  const point = short ?? long
  if (point !== undefined) {
    const number = Number.parseInt(point, 16)
    return number > 0x10ffff || (number >= 0xd800 && number < 0xe000)
      ? undefined
      : encoded(String.fromCodePoint(number))
  }
  if (control !== undefined) return [control.charCodeAt(0) & 0x1f]
  if (Object.hasOwn(SINGLE, other)) return [SINGLE[other]!]
  return encoded(/[\\'"?]/.test(other) ? other : `\\${other}`)
}

const encoded = (text: string): readonly number[] => [...new TextEncoder().encode(text)]

function decoded(bytes: readonly number[]): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}
