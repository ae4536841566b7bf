import { NoAnswer } from '../http/exchange.ts'
import { failureOf, isCut, neverSent } from '../http/failure.ts'
import { ClusterError } from './cluster.ts'

/**
 * Returns an error that explains to the user why the connection to a server failed or was lost. `error` is an error of
 * Node.js or a NoAnswer.
 */
export function toUnreachable(error: unknown, server: URL): ClusterError {
  const { message } = error as Error // Node rejects with nothing else
  const where = `\`${server.origin}\``
  const fail = (text: string) => new ClusterError('unreachable', text, { cause: error })
  switch (failureOf(error)) {
    case 'no-answer':
      return fail(`${where} took the request but did not answer in ${secondsOf(error)} s`)
    case 'no-connection':
      return fail(`no connection to ${where} in ${error instanceof NoAnswer ? `${secondsOf(error)} s` : 'time'}`)
    case 'certificate':
      return fail(`the certificate of ${where} is not trusted: ${message}`)
    case 'client-certificate':
      return new ClusterError('unauthorized', `${where} refuses the client certificate: ${message}`, { cause: error })
    case 'name':
      return fail(`the name \`${server.hostname}\` does not resolve`)
    case 'refused':
      return fail(`nothing listens at ${where}`)
    case 'no-route':
      return fail(`no route to ${where}`)
    case 'cut':
      return fail(`the connection to ${where} was cut`)
    case 'proxy':
      return fail(`no connection to ${where}: ${message}`)
    default:
      return fail(`the connection to ${where} failed: ${message}`)
  }
}

const secondsOf = (error: unknown) =>
  error instanceof NoAnswer ? Number((error.milliseconds / 1000).toFixed(1)) : undefined

/** Returns true if a retry can succeed: the request was never sent, or its connection was lost. */
export const isPassing = (error: unknown): boolean => isCut(error) || neverSent(error)
