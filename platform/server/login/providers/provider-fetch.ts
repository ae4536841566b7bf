import { agentFor } from '../../../../adapters/http/agents.ts'
import { exchangeWhole } from '../../../../adapters/http/exchange.ts'
import { proxyFor } from '../../../../adapters/http/proxy.ts'

/** Limits for a slow or broken provider: maximum silence in milliseconds, and maximum size of a response in bytes. */
const LIMITS = { silence: 8000, limit: 1024 * 1024 }
/** Timeout for an entire request, in milliseconds. */
const WHOLE = 10_000

interface Init {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>> | Headers
  readonly body?: unknown
  readonly signal?: AbortSignal | null | undefined
}

/**
 * Sends a request to a provider, like `fetch`, but with time limits, a maximum response size, and the proxy from the
 * environment variables. It does not follow redirects.
 */
export async function providerFetch(address: string | URL, init: Init = {}): Promise<Response> {
  const url = new URL(address)
  const agent = await agentFor(url, proxyFor(url, process.env))
  const { method = 'GET', headers = {}, body, signal } = init
  const deadline = AbortSignal.timeout(WHOLE)
  const answer = await exchangeWhole(
    {
      url,
      method: method as 'GET', // or POST: the libraries send nothing else
      headers: Object.fromEntries(new Headers(headers as Record<string, string>)),
      body: body === undefined || body === null ? undefined : String(body),
    },
    agent,
    LIMITS,
    signal ? AbortSignal.any([signal, deadline]) : deadline,
  )
  const given = Object.entries(answer.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  const isEmpty = answer.status === 204 || answer.status === 304
  return new Response(isEmpty ? null : new Uint8Array(answer.body), { status: answer.status, headers: given })
}
