import type { Readable } from 'node:stream'

/**
 * Yields the lines of a UTF-8 stream, without line ends; the last line needs no line end. Reads no faster than the
 * caller consumes the lines. Splits lines longer than `longest` characters into pieces of about that length, to limit
 * memory use. Closes the stream if the caller stops early.
 */
export async function* readLines(stream: Readable, longest: number): AsyncGenerator<string> {
  stream.setEncoding('utf8')
  let begun: string[] = []
  let length = 0
  /**
   * True if a piece of the current line was already yielded. If only the line end follows, no further piece is yielded.
   */
  let isCut = false
  for await (const chunk of stream as AsyncIterable<string>) {
    let from = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      begun.push(chunk.slice(from, end))
      from = end + 1
      const line = withoutReturn(begun.join(''))
      if (line !== '' || !isCut) yield line
      begun = []
      length = 0
      isCut = false
    }
    begun.push(chunk.slice(from))
    length += chunk.length - from
    if (length >= longest) {
      yield begun.join('')
      begun = []
      length = 0
      isCut = true
    }
  }
  if (length > 0) yield withoutReturn(begun.join(''))
}

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line)
