import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { PROGRESS_TYPE, WAKER_HEADER } from './page.ts'

/** Timeout for a response in milliseconds. */
const LIMIT = 3000

/**
 * Returns true if requests for an application's host reach the platform; undefined if there is no response. Checks this
 * with a request that wakes no namespace. Never rejects.
 */
export async function leadsHere(host: string, signal?: AbortSignal): Promise<boolean | undefined> {
  const limit = AbortSignal.timeout(LIMIT)
  const sent = request({
    host,
    path: '/',
    headers: { accept: PROGRESS_TYPE, 'sec-fetch-mode': 'cors' },
    agent: false,
    // The request contains nothing secret, and only the sender of the response matters.
    rejectUnauthorized: false,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  // Discards the response, including its body, without waiting for it.
  sent.on('error', () => {})
  sent.end()
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return answer.headers[WAKER_HEADER] !== undefined
  } catch {
    return undefined
  } finally {
    sent.destroy()
  }
}
