import { NoAnswer } from './exchange.ts'

/** Reason why there is no response. Each client describes it in its own words. */
export type ConnectionFailure =
  | 'no-connection'
  | 'no-answer'
  | 'name'
  | 'refused'
  | 'no-route'
  | 'cut'
  | 'certificate'
  | 'client-certificate'
  | 'not-tls'
  | 'proxy'
  | 'other'

const CODES: Readonly<Record<string, ConnectionFailure>> = {
  ENOTFOUND: 'name',
  EAI_AGAIN: 'name',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no-route',
  ENETUNREACH: 'no-route',
  ETIMEDOUT: 'no-connection',
  ECONNRESET: 'cut',
  ECONNABORTED: 'cut',
  EPIPE: 'cut',
  ERR_STREAM_PREMATURE_CLOSE: 'cut',
  EPROXY: 'proxy',
}

/** Classifies an error of Node.js or a NoAnswer. */
export function failureOf(error: unknown): ConnectionFailure {
  if (error instanceof NoAnswer) return error.isConnected ? 'no-answer' : 'no-connection'
  const code = codeOf(error)
  const known = CODES[code]
  if (known) return known
  // The server ends the handshake because of the client certificate.
  if (/ALERT_(BAD_CERTIFICATE|CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(code)) return 'client-certificate'
  if (/CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|SELF_SIGNED/.test(code) && !code.includes('ALERT'))
    return 'certificate'
  return code === 'EPROTO' || code.startsWith('ERR_SSL') ? 'not-tls' : 'other'
}

/** Returns true if the request never reached the server. */
export const neverSent = (error: unknown): boolean =>
  ['no-connection', 'name', 'refused', 'no-route', 'proxy'].includes(failureOf(error))

/**
 * Returns true if an established connection was lost or timed out. It is then unknown whether the server carried out
 * the request.
 */
export const isCut = (error: unknown): boolean => ['cut', 'no-answer'].includes(failureOf(error))

/** Returns the `code` of an error of Node.js; empty if it has none. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '' // what Node throws has one, or none
