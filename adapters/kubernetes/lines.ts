import type { Readable } from 'node:stream'

/**
 * The lines of a stream of UTF-8, without their ends; the last one also when it has none. Reads no
 * faster than the lines are taken. A line longer than `longest` characters comes in pieces of about
 * that length, so that memory has a bound. To stop early closes the stream.
 */
export async function* readLines(stream: Readable, longest: number): AsyncGenerator<string> {
  stream.setEncoding('utf8')
  let begun: string[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<string>) {
    let from = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      begun.push(chunk.slice(from, end))
      from = end + 1
      yield withoutReturn(begun.join(''))
      begun = []
      length = 0
    }
    begun.push(chunk.slice(from))
    length += chunk.length - from
    if (length >= longest) {
      yield begun.join('')
      begun = []
      length = 0
    }
  }
  if (length > 0) yield withoutReturn(begun.join(''))
}

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line)
