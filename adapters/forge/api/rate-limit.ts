import type { IncomingHttpHeaders } from 'node:http'
import { retryAfter } from '../../http/back-off.ts'

/**
 * Returns true if a call was refused only because of a rate limit. Besides status 429, some forges use status 403 for
 * such refusals.
 */
export function isLimited(status: number, headers: IncomingHttpHeaders, said: string): boolean {
  if (status === 429) return true
  if (status !== 403) return false
  return headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(said)
}

/**
 * Returns the pause that the headers of a response request, in milliseconds; undefined if they request none. The
 * headers contain a number of seconds, a date, or the time when the limit is reset.
 */
export function pauseAsked(headers: IncomingHttpHeaders, now = Date.now()): number | undefined {
  const after = headers['retry-after']
  if (after !== undefined) return retryAfter(after, now)
  // Seconds since 1970, in headers with or without `x-`.
  const isUsedUp = headers['x-ratelimit-remaining'] === '0' || headers['ratelimit-remaining'] === '0'
  const reset = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'])
  return isUsedUp && reset > 0 ? Math.max(0, reset * 1000 - now) : undefined
}

/** Returns when the next call is allowed, in words: `in 7 s`. */
export function whenText(headers: IncomingHttpHeaders): string {
  const pause = pauseAsked(headers)
  if (pause === undefined) return 'in a few minutes'
  return pause < 100_000 ? `in ${Math.ceil(pause / 1000)} s` : `in ${Math.ceil(pause / 60_000)} min`
}
