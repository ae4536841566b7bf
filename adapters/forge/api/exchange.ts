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

/** Time without a byte after which a server counts as unreachable, in milliseconds. */
const SILENCE = 30_000
/** Maximum size of a response in bytes; no forge sends more. */
const LONGEST = 20 * 1024 * 1024

/**
 * Sends a request without retries, through the proxy if one is set, and reads the full response, whatever its status.
 * Rejects with the transport's error (`adapters/http`), or with the signal's abort reason.
 */
export async function exchange(
  message: ForgeMessage,
  proxy: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ForgeAnswer> {
  // No connection is kept, because there are only a handful of calls.
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
