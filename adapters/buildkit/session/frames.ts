import type { Readable } from 'node:stream'
import { LARGEST_MESSAGE } from '../options.ts'
import { CallError, RESOURCE_EXHAUSTED, UNIMPLEMENTED } from './call-error.ts'

/** Size of the message prefix in bytes: a flag for compression, and the length of the message. */
export const PREFIX = 5

/** Returns a message in gRPC framing: its prefix, then the message. */
export function frame(message: Buffer): readonly [Buffer, Buffer] {
  const prefix = Buffer.alloc(PREFIX)
  putPrefix(prefix, 0, message.length)
  return [prefix, message]
}

/** Writes the prefix of a message that is `length` bytes long. */
export function putPrefix(buffer: Buffer, start: number, length: number): void {
  buffer[start] = 0
  buffer.writeUInt32BE(length, start + 1)
}

/**
 * Yields the messages of a call. Ending the iteration early does not end the call. Throws if a message is too large.
 */
export async function* messagesIn<Message>(
  stream: Readable,
  parse: (bytes: Buffer) => Message,
): AsyncGenerator<Message> {
  let waiting: Buffer[] = []
  let length = 0
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    waiting.push(chunk)
    length += chunk.length
    if (length < neededFor(waiting)) continue
    let rest: Buffer = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting, length)
    while (rest.length >= neededFor([rest])) {
      const end = neededFor([rest])
      if (rest[0] !== 0) throw new CallError(UNIMPLEMENTED, 'compressed messages are not supported')
      yield parse(rest.subarray(PREFIX, end))
      rest = rest.subarray(end)
    }
    waiting = rest.length > 0 ? [rest] : []
    length = rest.length
  }
}

/**
 * Returns the length of the first message in bytes, including the prefix. If the prefix has not arrived completely,
 * returns only the length of a prefix. Throws a CallError if the message is too large.
 */
function neededFor(chunks: readonly Buffer[]): number {
  const [first] = chunks
  if (first && first.length >= PREFIX) return PREFIX + lengthIn(first)
  const start = Buffer.concat(chunks)
  return start.length >= PREFIX ? PREFIX + lengthIn(start) : PREFIX
}

function lengthIn(start: Buffer): number {
  const length = start.readUInt32BE(1)
  if (length > LARGEST_MESSAGE) throw new CallError(RESOURCE_EXHAUSTED, `a message of ${length} bytes is too large`)
  return length
}
