import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type { Masker } from '../../compiler/values/secrets/masker.ts'

/** Maximum length of a line in characters; longer lines are split, to limit memory use. */
const LONGEST = 32_768
/** Escape sequences that set colors, the only sequences that are useful outside the original terminal. */
const COLOUR = /\u001b\[[\d;:]*m/g
/** Control characters without a meaning in a line; ESC is removed separately. */
const CONTROL = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g

export interface LineOptions {
  readonly masker: Masker
  /** True to keep colors; other control sequences are always removed. */
  readonly colours: boolean
}

/**
 * Yields the lines of a program's output, masked, without line ends. Of a line that is overwritten with carriage
 * returns (progress), only the last state is yielded. Invalid UTF-8 becomes U+FFFD; a line of more than 32768
 * characters is split; the last line needs no line end. Reads no faster than the caller consumes the lines.
 */
export async function* readOutput(stream: Readable, { masker, colours }: LineOptions): AsyncGenerator<string> {
  stream.setEncoding('utf8')
  const clean = colours ? keepColours : (text: string) => stripVTControlCharacters(text).replace(CONTROL, '')
  const mask = masker.stream()
  let begun = ''
  for await (const chunk of stream as AsyncIterable<string>) {
    const lines = chunk.split('\n')
    lines[0] = begun + lines[0]
    begun = lines.pop()!
    for (const line of lines) yield mask.push(`${clean(lastState(line))}\n`).slice(0, -1)
    if (begun.length <= LONGEST) continue
    begun = lastState(begun)
    while (begun.length > LONGEST) {
      const end = pieceEnd(begun)
      const piece = mask.push(clean(begun.slice(0, end)))
      begun = begun.slice(end)
      if (piece !== '') yield piece
    }
  }
  const rest = mask.push(clean(lastState(begun))) + mask.end()
  if (rest !== '') yield rest
}

/**
 * Returns the part of a line that is still visible after its carriage returns. Ignores a carriage return at the end,
 * which belongs to the line end or precedes text that has not arrived yet.
 */
function lastState(line: string): string {
  const text = line.replace(/\r+$/, '')
  return text.slice(text.lastIndexOf('\r') + 1)
}

/**
 * Returns the position at which to cut a long line: not inside an escape sequence, nor between the two halves of a
 * character.
 */
function pieceEnd(text: string): number {
  const sequence = text.lastIndexOf('\u001b', LONGEST)
  if (sequence > 0 && LONGEST - sequence < 64) return sequence
  const code = text.charCodeAt(LONGEST - 1)
  return code >= 0xd800 && code < 0xdc00 ? LONGEST - 1 : LONGEST
}

function keepColours(text: string): string {
  let kept = ''
  let end = 0
  const strip = (part: string) => stripVTControlCharacters(part).replace(CONTROL, '')
  for (const { index, 0: colour } of text.matchAll(COLOUR)) {
    kept += strip(text.slice(end, index)) + colour
    end = index + colour.length
  }
  return kept + strip(text.slice(end))
}
