import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type { Masker } from '../../compiler/values/secrets/masker.ts'

/** Characters after which a line is cut into pieces, so that memory has a bound. */
const LONGEST = 32_768
/** Escape sequences that set colours: the only ones that are useful outside the terminal that they were meant for. */
const COLOUR = /\u001b\[[\d;:]*m/g
/** Control characters without a meaning in a line; ESC is seen to before. */
const CONTROL = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g

export interface LineOptions {
  readonly masker: Masker
  /** Keep colours; other control sequences never stay. */
  readonly colours: boolean
}

/**
 * The lines of what a program prints, masked, without their ends. Of a line that is written over
 * itself with carriage returns (progress) the last state counts. What is not UTF-8 becomes U+FFFD;
 * a line of more than 32768 characters comes in pieces; the last line needs no end. Reads no faster
 * than the lines are taken.
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
 * The visible part of a line with carriage returns. A return at the end belongs to the line end, or
 * waits for more.
 */
function lastState(line: string): string {
  const text = line.replace(/\r+$/, '')
  return text.slice(text.lastIndexOf('\r') + 1)
}

/** Returns the position at which to cut: not inside an escape sequence, nor between the two halves of a character. */
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
