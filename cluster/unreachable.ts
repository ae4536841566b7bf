import { ClusterError } from './cluster.ts'
import { NoAnswer } from './exchange.ts'

/** Says in a user's words why there is no connection to a server, or none any more. `error` is Node's, or NoAnswer. */
export function toUnreachable(error: unknown, server: URL): ClusterError {
  const { code, message } = error as NodeJS.ErrnoException
  const where = `\`${server.origin}\``
  const fail = (text: string) => new ClusterError('unreachable', text, { cause: error })
  if (error instanceof NoAnswer)
    return fail(
      error.isConnected
        ? `${where} took the request but did not answer in ${seconds(error)} s`
        : `no connection to ${where} in ${seconds(error)} s`,
    )
  if (isCertificateProblem(code)) return fail(`the certificate of ${where} is not to be trusted: ${message}`)
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return fail(`the name \`${server.hostname}\` leads to no address`)
    case 'ECONNREFUSED':
      return fail(`nothing listens at ${where}`)
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return fail(`there is no way to ${where} in the network`)
    case 'ETIMEDOUT':
      return fail(`no connection to ${where} in time`)
    case 'ECONNRESET':
    case 'EPIPE':
      return fail(`the connection to ${where} was cut`)
  }
  // A client certificate that the server refuses ends the handshake.
  if (/ALERT_(BAD_CERTIFICATE|CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(code ?? ''))
    return new ClusterError('unauthorized', `${where} refuses the client certificate: ${message}`, { cause: error })
  return fail(`the connection to ${where} failed: ${message}`)
}

const seconds = ({ milliseconds }: NoAnswer) => Number((milliseconds / 1000).toFixed(1))

/** Whether the same may go well a moment later. */
export function isPassing(error: unknown): boolean {
  return isCut(error) || neverSent(error)
}

/** Whether the request never got as far as the server. */
export function neverSent(error: unknown): boolean {
  if (error instanceof NoAnswer) return !error.isConnected
  return ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(codeOf(error))
}

/** Whether the connection stood, and then broke or fell silent: the server may have done what was asked, or not. */
function isCut(error: unknown): boolean {
  if (error instanceof NoAnswer) return error.isConnected
  return ['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(codeOf(error))
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? ''

function isCertificateProblem(code: string | undefined): boolean {
  return /CERT|UNABLE_TO_VERIFY|ERR_TLS_CERT|SELF_SIGNED/.test(code ?? '') && !/ALERT/.test(code ?? '')
}
