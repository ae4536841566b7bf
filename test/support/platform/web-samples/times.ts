/** Returns the time (RFC 3339) a number of minutes ago; for a negative number, a time to come. */
export type MinutesAgo = (minutes: number) => string

export const HOUR = 60
export const DAY = 24 * HOUR

/** Returns the times before a time in milliseconds since 1970. */
export const timesFrom =
  (now: number): MinutesAgo =>
  minutes =>
    new Date(now - minutes * 60_000).toISOString()

/** Returns the current time (RFC 3339), for changes that pages make. */
export const justNow = (): string => new Date().toISOString()
