import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { constants } from 'node:http2'
import {
  CallError,
  INVALID_ARGUMENT,
  RESOURCE_EXHAUSTED,
  UNAVAILABLE,
} from '../../../adapters/buildkit/session/call-error.ts'

const CONTENT = { ':status': 200, 'content-type': 'application/grpc' }
const PREFIX = 5

/** Begins the answer to a call, once. */
export function begin(down: ServerHttp2Stream): void {
  if (!down.headersSent && !down.destroyed) down.respond(CONTENT, { waitForTrailers: true })
}

/** Milliseconds in which a client ends its side of a call that it was told the end of. */
const LEAVE = 5_000

/** Ends a call. What has begun ends with trailers. A client that does not end its side is cut off. */
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
  // What the client still sends is nobody's.
  down.resume()
}

/** Ends a call with what was thrown; what is no CallError is not told to the client. */
export function fail(down: ServerHttp2Stream, error: unknown): void {
  const { code, message } =
    error instanceof CallError ? error : new CallError(UNAVAILABLE, 'the builder cannot be reached')
  finish(down, { 'grpc-status': String(code), 'grpc-message': encodeURI(message) })
}

/** The only message of a call; what is longer is not read. Throws a CallError. */
export async function onlyMessage(down: ServerHttp2Stream, limit: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of down.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length > limit + PREFIX) throw new CallError(RESOURCE_EXHAUSTED, `the request is longer than ${limit} bytes`)
  }
  const all = Buffer.concat(parts)
  if (all.length < PREFIX || all[0] !== 0 || all.readUInt32BE(1) !== all.length - PREFIX)
    throw new CallError(INVALID_ARGUMENT, 'the request is not one message that is not compressed')
  return all.subarray(PREFIX)
}

/** Passes the answer of a builder on, with what ends it. Gives up the builder's side when the client is gone. */
export function answerWith(down: ServerHttp2Stream, up: ClientHttp2Stream): void {
  let trailers: OutgoingHttpHeaders | undefined
  const lost = { 'grpc-status': String(UNAVAILABLE), 'grpc-message': 'the connection to the builder was lost' }
  up.on('response', headers => {
    // An answer of trailers only.
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
  down.once('close', () => {
    if (!up.closed) up.close(constants.NGHTTP2_CANCEL)
  })
}

/** What says how a call has ended. */
function statusIn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const names = ['grpc-status', 'grpc-message', 'grpc-status-details-bin']
  return Object.fromEntries(names.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]]])))
}
