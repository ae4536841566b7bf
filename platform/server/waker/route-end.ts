import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { PROGRESS_TYPE, WAKER_HEADER } from './page.ts'

/** Milliseconds. */
const LIMIT = 3000

/**
 * Whether requests for a host of an application come to the platform: by asking, in a way that wakes nothing.
 * Undefined where nobody answers. Never rejects.
 */
export async function leadsHere(host: string, signal?: AbortSignal): Promise<boolean | undefined> {
  const limit = AbortSignal.timeout(LIMIT)
  const sent = request({
    host,
    path: '/',
    headers: { accept: PROGRESS_TYPE, 'sec-fetch-mode': 'cors' },
    agent: false,
    // Nothing is sent that anybody else may not know, and only whose answer it is is looked at.
    rejectUnauthorized: false,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  // Also what comes after the head: it is not waited for.
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
