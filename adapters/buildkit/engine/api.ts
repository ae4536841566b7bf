import { type IncomingMessage, request } from 'node:http'
import { type EngineEndpoint, openConnection } from './endpoint.ts'

/** A response from the API of a Docker Engine, with a body that is read as a stream. */
export interface EngineAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: AsyncIterable<Buffer>
}

/**
 * Sends a request without a body to a Docker Engine (https://docs.docker.com/reference/api/engine/), over a new
 * connection. Returns responses with an error status, too; rejects with the connection's error or the signal's abort
 * reason.
 */
export async function callEngine(
  endpoint: EngineEndpoint,
  method: string,
  path: string,
  { signal, headers = {} }: { readonly signal: AbortSignal; readonly headers?: Readonly<Record<string, string>> },
): Promise<EngineAnswer> {
  const socket = await openConnection(endpoint, signal)
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(signal.aborted ? signal.reason : error)
    const sent = request(
      { method, path, signal, headers: { ...headers, host: 'docker' }, createConnection: () => socket },
      response => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
    )
    sent.on('error', fail)
    sent.end()
  })
}

/** Reads a short response as text. */
export async function textOf({ body }: EngineAnswer): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}
