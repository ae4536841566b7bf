import type { IncomingHttpHeaders } from 'node:http'
import { agentFor } from '../../adapters/http/agents.ts'
import { readBody, exchange as send } from '../../adapters/http/exchange.ts'

export interface ForgeMessage {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface ForgeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Milliseconds without a byte after which a server counts as gone. */
const SILENCE = 30_000
const DEADLINES = { connect: SILENCE, answer: SILENCE, whole: Number.POSITIVE_INFINITY }
/** Bytes; an answer that is longer is none of a forge. */
const LONGEST = 20 * 1024 * 1024

/**
 * Sends one request, once, through the proxy if there is one, and reads the whole answer, whatever its status. Rejects as the transport does
 * (`adapters/http`), or with the reason of the signal.
 */
export async function exchange(
  { method, url, headers, body }: ForgeMessage,
  proxy: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ForgeAnswer> {
  // A connection of its own: there are a handful of calls in all.
  const agent = await agentFor(url, proxy)
  const length = body !== undefined && { 'content-length': Buffer.byteLength(body) }
  const message = { method, path: `${url.pathname}${url.search}`, headers: { ...headers, ...length }, body }
  try {
    const response = await send(new URL('/', url), message, agent, DEADLINES, signal)
    const text = (await readBody(response, { silence: SILENCE, limit: LONGEST })).toString('utf8')
    return { status: response.statusCode ?? 0, headers: response.headers, text }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    agent.destroy()
  }
}
