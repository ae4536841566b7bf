import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Returns the milliseconds to wait after `failures` failed attempts: `first` after the first failure, doubled after
 * each further one up to `most`. The time is randomized, so that many callers do not retry at the same time.
 */
export function backOff(failures: number, first: number, most: number): number {
  const full = Math.min(most, first * 2 ** (failures - 1))
  return full * (0.5 + Math.random() / 2)
}

/** Waits; rejects with the signal's abort reason as soon as the signal is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/**
 * Returns the milliseconds in a `Retry-After` header, which contains seconds or a date; undefined if the header is
 * absent or invalid.
 */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
