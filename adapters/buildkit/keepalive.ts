/** Keepalive settings of an idle connection, in milliseconds (https://grpc.io/docs/guides/keepalive/). */
export interface Keepalive {
  /** Idle time before a ping. If absent, no pings are sent. */
  readonly time?: number
  /** Timeout for the response to a ping, after which the connection counts as lost. */
  readonly timeout: number
  /** True to send pings even while nothing is being built. */
  readonly permitWithoutStream: boolean
}

const SHORTEST_TIME = 10_000
/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST = 2 ** 31 - 1

export const DEFAULT_KEEPALIVE: Keepalive = { timeout: 20_000, permitWithoutStream: false }

/**
 * Returns the keepalive settings from the environment (docs/build.md). Ignores invalid values, and raises an idle time
 * of less than 10 s to 10 s.
 */
export function readKeepalive(env: Readonly<Record<string, string | undefined>>): Keepalive {
  const time = milliseconds(env['DEVCTL_KEEPALIVE_CLIENT_TIME_MS'])
  const timeout = milliseconds(env['DEVCTL_KEEPALIVE_CLIENT_TIMEOUT_MS'])
  return {
    ...(time !== undefined && time <= LONGEST && { time: Math.max(time, SHORTEST_TIME) }),
    timeout: Math.min(timeout ?? DEFAULT_KEEPALIVE.timeout, LONGEST),
    permitWithoutStream:
      booleanOf(env['DEVCTL_KEEPALIVE_CLIENT_PERMIT_WITHOUT_STREAM']) ?? DEFAULT_KEEPALIVE.permitWithoutStream,
  }
}

function milliseconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\+?0*[1-9]\d*$/.test(text) ? Number(text) : undefined
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

function booleanOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  return TRUE.has(text) ? true : FALSE.has(text) ? false : undefined
}
