import type { EndedRequest } from '../../adapters/kubernetes/request.ts'
import type { LogLevel } from '../command.ts'
import type { Io } from './io.ts'

export interface RequestTrace {
  /** Callback for each request; undefined unless the log level is `debug`. */
  readonly trace: ((exchange: EndedRequest) => void) | undefined
  /** Prints the number of requests. */
  end(): void
}

/**
 * Prints every request to the cluster on standard error: method, path, status and duration in milliseconds, but never
 * bodies or credentials.
 */
export function traceRequests(io: Io, logLevel: LogLevel | undefined): RequestTrace {
  if (logLevel !== 'debug') return { trace: undefined, end: () => {} }
  let count = 0
  return {
    trace({ method, path, status, milliseconds }) {
      count++
      io.stderr.write(`debug: ${method} ${path} ${status ?? 'no answer'} ${Math.round(milliseconds)} ms\n`)
    },
    end: () => io.stderr.write(`debug: ${count} requests to the cluster\n`),
  }
}
