import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Milliseconds to wait before the next attempt, after `failures` of them: doubled each time up to
 * `most`, and never twice the same, so that many callers do not come back at once.
 */
export function backOff(failures: number, first: number, most: number): number {
  const full = Math.min(most, first * 2 ** (failures - 1))
  return full * (0.5 + Math.random() / 2)
}

/** Waits; an aborted signal ends it with the signal's reason. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/**
 * Milliseconds that a `Retry-After` header asks for, which is seconds or a date; undefined without
 * one that makes sense.
 */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
