import type { EndedRequest } from '../../adapters/kubernetes/request.ts'
import type { LogLevel } from '../command.ts'
import type { Io } from './io.ts'

export interface RequestTrace {
  /** Undefined when nobody wants to know. */
  readonly trace: ((exchange: EndedRequest) => void) | undefined
  /** Tells how many there were. */
  end(): void
}

/** Tells on stderr of every request to the cluster: method, path, status, milliseconds. Bodies and credentials are not in it. */
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
