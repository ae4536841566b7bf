import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2'
import { constants } from 'node:http2'
import {
  CallError,
  INVALID_ARGUMENT,
  RESOURCE_EXHAUSTED,
  UNAVAILABLE,
} from '../../../adapters/buildkit/session/call-error.ts'
import { frame } from '../../../adapters/buildkit/session/frames.ts'

const CONTENT = { ':status': 200, 'content-type': 'application/grpc' }
const PREFIX = 5

/** Returns the headers of a call to a builder. */
export const headersOf = (path: string): OutgoingHttpHeaders => ({
  ':method': 'POST',
  ':path': path,
  'content-type': 'application/grpc',
  te: 'trailers',
})

/** Starts a call with one request message, and returns its stream. */
export function callOnce(link: ClientHttp2Session, path: string, message: Buffer): ClientHttp2Stream {
  const up = link.request(headersOf(path))
  up.on('error', () => {})
  up.end(Buffer.concat(frame(message)))
  return up
}

/** Sends the headers of the response, unless they were already sent. */
export function begin(down: ServerHttp2Stream): void {
  if (!down.headersSent && !down.destroyed) down.respond(CONTENT, { waitForTrailers: true })
}

/** Time in milliseconds for a client to close its side of a call after the status was sent. */
const LEAVE = 5_000

/**
 * Ends a call. If the response has begun, the status is sent in its trailers, otherwise in its headers. A client that
 * does not close its side is disconnected.
 */
export function finish(down: ServerHttp2Stream, trailers: OutgoingHttpHeaders): void {
  if (down.destroyed || down.writableEnded) return
  const cut = () => {
    const late = setTimeout(() => down.close(constants.NGHTTP2_CANCEL), LEAVE)
    down.once('close', () => clearTimeout(late))
  }
  if (!down.headersSent) {
    down.respond({ ...CONTENT, ...trailers }, { endStream: true })
    cut()
  } else {
    down.once('wantTrailers', () => {
      if (down.destroyed) return
      down.sendTrailers(trailers)
      cut()
    })
    down.end()
  }
  // Discards the remaining data from the client.
  down.resume()
}

/** Ends a call with the error that was thrown; only a CallError is shown to the client. */
export function fail(down: ServerHttp2Stream, error: unknown): void {
  const { code, message } =
    error instanceof CallError ? error : new CallError(UNAVAILABLE, 'the builder cannot be reached')
  finish(down, { 'grpc-status': String(code), 'grpc-message': encodeURI(message) })
}

/** Memory budget for requests that are being read or wait for a builder. */
export interface RequestRoom {
  /** Reserves memory. Returns false if the rest of the budget is too small. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** The only message of a call. `done` releases the memory of the message. */
export interface ReadMessage {
  readonly message: Buffer
  readonly done: () => void
}

/**
 * Reads the only message of a call. Throws a CallError if the message is longer than the limit, or there is no memory
 * for it.
 */
export async function onlyMessage(down: ServerHttp2Stream, limit: number, room: RequestRoom): Promise<ReadMessage> {
  const parts: Buffer[] = []
  let length = 0
  const done = () => {
    room.give(length)
    length = 0
  }
  try {
    for await (const part of down.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (length + part.length > limit + PREFIX)
        throw new CallError(RESOURCE_EXHAUSTED, `the request is longer than ${limit} bytes`)
      if (!room.take(part.length))
        throw new CallError(RESOURCE_EXHAUSTED, 'too many requests are sent at the same time')
      parts.push(part)
      length += part.length
    }
    const all = Buffer.concat(parts)
    if (all.length < PREFIX || all[0] !== 0 || all.readUInt32BE(1) !== all.length - PREFIX)
      throw new CallError(INVALID_ARGUMENT, 'the request is not one message that is not compressed')
    return { message: all.subarray(PREFIX), done }
  } catch (error) {
    done()
    throw error
  }
}

/** Forwards the response of a builder and its trailers. Cancels the call to the builder if the client disconnects. */
export function answerWith(down: ServerHttp2Stream, up: ClientHttp2Stream): void {
  let trailers: OutgoingHttpHeaders | undefined
  const lost = { 'grpc-status': String(UNAVAILABLE), 'grpc-message': 'the connection to the builder was lost' }
  up.on('response', headers => {
    // The response consists of trailers only.
    if (headers['grpc-status'] !== undefined) trailers = statusIn(headers)
    else begin(down)
  })
  up.on('trailers', headers => {
    trailers = statusIn(headers)
  })
  up.on('data', (part: Buffer) => {
    begin(down)
    if (!down.destroyed && !down.writableEnded && !down.write(part)) up.pause()
  })
  down.on('drain', () => up.resume())
  up.once('end', () => finish(down, trailers ?? lost))
  up.on('error', () => finish(down, lost))
  up.once('close', () => finish(down, trailers ?? lost))
  const cancel = () => {
    if (!up.closed) up.close(constants.NGHTTP2_CANCEL)
  }
  // The client may have disconnected while the connection to the builder was opened.
  if (down.destroyed) cancel()
  else down.once('close', cancel)
}

/** Returns those of the given headers that contain the status of a call. */
function statusIn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const names = ['grpc-status', 'grpc-message', 'grpc-status-details-bin']
  return Object.fromEntries(names.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]]])))
}
