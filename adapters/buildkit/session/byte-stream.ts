import { Duplex } from 'node:stream'

/** A stream of messages that contain bytes. */
export interface MessageStream {
  /** Sends a message; its bytes may be in several chunks. */
  write(message: { data: Uint8Array | readonly Uint8Array[] }, done: (error?: Error | null) => void): void
  end(): void
  cancel(): void
  on(event: 'data', listener: (message: { data?: Uint8Array }) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  pause(): void
  resume(): void
}

/** Returns the bytes in the messages as a connection, because BuildKit tunnels the session through an RPC. */
export function byteStream(messages: MessageStream): Duplex {
  const stream = new Duplex({
    read: () => messages.resume(),
    write: (chunk: Buffer, _, done) => messages.write({ data: chunk }, done),
    writev: (chunks, done) => messages.write({ data: chunks.map(({ chunk }) => chunk as Buffer) }, done),
    final: done => {
      messages.end()
      done()
    },
    destroy: (error, done) => {
      messages.cancel()
      done(error)
    },
  })
  messages.on('data', ({ data }) => {
    if (data && data.length > 0 && !stream.push(data)) messages.pause()
  })
  messages.on('end', () => stream.push(null))
  messages.on('error', error => stream.destroy(error))
  return stream
}
