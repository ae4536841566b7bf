import type { IncomingHttpHeaders } from 'node:http'
import { agentFor } from '../../http/agents.ts'
import { exchangeWhole } from '../../http/exchange.ts'

export interface ForgeMessage {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
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
/** Bytes; no forge answers with more. */
const LONGEST = 20 * 1024 * 1024

/**
 * Sends one request, once, through the proxy if there is one, and reads the whole answer, whatever
 * its status. Rejects as the transport does (`adapters/http`), or with the reason of the signal.
 */
export async function exchange(
  message: ForgeMessage,
  proxy: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ForgeAnswer> {
  // A connection of its own: there are a handful of calls in all.
  const agent = await agentFor(message.url, proxy)
  try {
    const { body, ...answer } = await exchangeWhole(message, agent, { silence: SILENCE, limit: LONGEST }, signal)
    return { ...answer, text: body.toString('utf8') }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    agent.destroy()
  }
}
