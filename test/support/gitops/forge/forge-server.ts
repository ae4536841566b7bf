import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import type { ForgeOptions } from '../../../../adapters/forge/forge-of.ts'

export interface Received {
  readonly method: string
  /** Path with the query, decoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** An answer; `cut` ends the connection in place of one, `half` amid one, `hang` never answers. */
export type Reply =
  | {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly json?: unknown
      readonly text?: string
    }
  | 'cut'
  | 'half'
  | 'hang'

/** A server at loopback that gives the replies in their order, and remembers what it was asked. */
export async function forgeServer(...replies: readonly Reply[]) {
  const received: Received[] = []
  const left = [...replies]
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    received.push({
      method: request.method ?? '',
      path: decodeURIComponent((request.url ?? '').replaceAll('+', ' ')),
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    })
    reply(response, left.shift() ?? { status: 500, json: { message: 'no reply left' } })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  running.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens at a port
  const calls = () => received.map(({ method, path }) => `${method} ${path}`)
  return { url: `http://127.0.0.1:${port}`, received, calls, left }
}

function reply(response: ServerResponse, what: Reply): void {
  if (what === 'hang') return
  if (what === 'cut') {
    response.destroy()
    return
  }
  if (what === 'half') {
    response.writeHead(200, { 'content-length': '100' })
    response.write('[{"number":', () => response.destroy())
    return
  }
  const { status = 200, headers = {}, json, text = JSON.stringify(json) } = what
  response.writeHead(status, { 'content-type': json === undefined ? 'text/html' : 'application/json', ...headers })
  response.end(text)
}

const running: (() => void)[] = []
afterEach(() => {
  for (const stop of running.splice(0)) stop()
})

/** Does not wait, and remembers for how long it was to. */
export function impatient(attempts = 4) {
  const waits: number[] = []
  const told: string[] = []
  const options: ForgeOptions = {
    retries: {
      attempts,
      onPause: (milliseconds, why) => void told.push(`${milliseconds} ms: ${why}`),
      wait: async (milliseconds, signal) => {
        signal?.throwIfAborted()
        waits.push(milliseconds)
      },
    },
  }
  return { waits, told, options }
}

/** The error that a promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { hint?: string; said?: string }> {
  const error = await promise.then(
    () => undefined,
    thrown => thrown,
  )
  if (!(error instanceof Error)) throw new Error('nothing was thrown')
  return error
}
