import { createServer, constants as http2, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { MethodDefinition } from '@grpc/grpc-js'
import { CallError, OK, UNIMPLEMENTED, UNKNOWN } from './call-error.ts'
import { frame, messagesIn } from './frames.ts'

/** An RPC that the builder sent. */
export interface IncomingCall<Request, Response> {
  /** Returns the values of a header, one for each time that the header was sent. */
  readonly valuesOf: (header: string) => readonly string[]
  readonly requests: AsyncIterable<Request>
  /** Sends responses; resolves when more may be sent. Rejects if the builder has ended the call. */
  readonly send: (...responses: readonly Response[]) => Promise<void>
  /**
   * Sends messages that are already encoded, with the gRPC prefix (`putPrefix`); resolves and rejects as `send` does.
   */
  readonly sendFrames: (frames: Buffer) => Promise<void>
}

/** Handles a call, which ends when the promise settles. */
export type Handler = (call: IncomingCall<never, unknown>) => Promise<void>

/** A method and the handler of its calls. */
export interface Route {
  readonly method: MethodDefinition<unknown, unknown>
  readonly handler: Handler
}

/** A server for the calls that arrive over connections. The caller passes each connection to `serve`. */
export interface RpcServer {
  serve(connection: Duplex): void
  /** Ends all calls, and waits until their handlers have cleaned up. */
  close(): Promise<void>
}

/**
 * Creates a gRPC server over HTTP/2 (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). The server of
 * grpc-js joins the values of a repeated header with `, `, which makes a `.dockerignore` pattern with a comma look like
 * two patterns, and it accepts at most 128 headers.
 */
export function createRpcServer(routes: readonly Route[]): RpcServer {
  const byPath = new Map(routes.map(route => [route.method.path, route]))
  const sessions = new Set<{ destroy(): void }>()
  const running = new Set<Promise<void>>()
  const server = createServer(SERVER_OPTIONS)
  server.on('session', session => {
    sessions.add(session)
    session.on('error', () => {})
    session.once('close', () => sessions.delete(session))
  })
  // The caller notices that its connection has ended.
  server.on('sessionError', () => {})
  const onStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, raw: readonly string[]) => {
    stream.on('error', () => {})
    const answering = answer(stream, byPath.get(String(headers[http2.HTTP2_HEADER_PATH])), raw)
    running.add(answering)
    void answering.finally(() => running.delete(answering))
  }
  // The types of Node.js leave out the last argument.
  server.on('stream', onStream as never)
  return {
    serve: connection => {
      connection.on('error', () => {})
      server.emit('connection', connection)
    },
    close: async () => {
      for (const session of sessions) session.destroy()
      // A handler may wait for something that never ends, such as a credential helper.
      let timer: NodeJS.Timeout | undefined
      const bound = new Promise(resolve => {
        timer = setTimeout(resolve, CLEAN_UP)
      })
      await Promise.race([Promise.allSettled(running), bound])
      clearTimeout(timer)
    },
  }
}

/** Time for handlers to clean up after their call has ended, in milliseconds. */
const CLEAN_UP = 2000

/** HTTP/2 settings. They allow many headers, because a `.dockerignore` is sent as headers, one pattern in each. */
const SERVER_OPTIONS = {
  maxHeaderListPairs: 1_000_000,
  maxSessionMemory: 1000,
  settings: { maxHeaderListSize: 16 << 20, initialWindowSize: 1 << 20 },
}

async function answer(stream: ServerHttp2Stream, route: Route | undefined, raw: readonly string[]): Promise<void> {
  const end = (code: number, message = '') => {
    if (stream.destroyed || stream.closed) return
    stream.once('wantTrailers', () => {
      if (stream.destroyed) return
      stream.sendTrailers({
        'grpc-status': String(code),
        ...(message !== '' && { 'grpc-message': encodeURIComponent(message) }),
      })
    })
    stream.end()
    stream.resume()
  }
  if (stream.destroyed) return
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  try {
    if (!route) throw new CallError(UNIMPLEMENTED, 'devctl does not serve this method')
    await route.handler(callOf(stream, route.method, raw) as never)
    end(OK)
  } catch (error) {
    end(error instanceof CallError ? error.code : UNKNOWN, (error as Error).message)
  }
}

function callOf(
  stream: ServerHttp2Stream,
  { requestDeserialize, responseSerialize }: Route['method'],
  raw: readonly string[],
): IncomingCall<unknown, unknown> {
  const sendFrames = (frames: Buffer) =>
    new Promise<void>((resolve, reject) => {
      if (stream.destroyed || stream.writableEnded) reject(new Error('the builder has ended the call'))
      else stream.write(frames, error => (error ? reject(error) : resolve()))
    })
  return {
    valuesOf: header => raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === header),
    requests: messagesIn(stream, requestDeserialize),
    send: (...responses) => sendFrames(Buffer.concat(responses.map(responseSerialize).flatMap(frame))),
    sendFrames,
  }
}

/** Returns a handler that responds to one message with one message. */
export function unary<Request>(answerTo: (request: Request) => Promise<unknown>): Handler {
  return async call => {
    for await (const request of call.requests as AsyncIterable<Request>) {
      await call.send(await answerTo(request))
      return
    }
  }
}
