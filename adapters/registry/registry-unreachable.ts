import { codeOf, failureOf, isCut } from '../http/failure.ts'
import { RegistryFailure } from './registry-problem.ts'

/**
 * Returns a failure that explains to the user why a server did not respond. `error` is an error of Node.js or a
 * NoAnswer.
 */
export function toUnreachable(error: unknown, { hostname, host }: URL): RegistryFailure {
  const { message } = error as Error // Node rejects with nothing else
  const trouble = (reason: string, hint?: string) =>
    new RegistryFailure({ kind: 'unreachable', reason, ...(hint !== undefined && { hint }) })
  switch (failureOf(error)) {
    case 'certificate':
      return trouble(
        `the certificate of \`${host}\` is not trusted (${message})`,
        'name the file of the certificate authority in NODE_EXTRA_CA_CERTS',
      )
    case 'not-tls':
      return trouble(
        `\`${host}\` does not speak TLS`,
        'devctl uses unencrypted connections to registries on this machine only; name the image by its digest, `NAME@sha256:…`',
      )
    case 'name':
      return trouble(`the name \`${hostname}\` does not resolve`, 'check the name of the registry, and the network')
    case 'refused':
      return trouble(`nothing listens at \`${host}\``, 'check the name and the port of the registry')
    case 'no-route':
      return trouble(`no route to \`${host}\``)
    case 'no-connection':
    case 'no-answer':
      return trouble(`\`${host}\` does not answer in time`)
    case 'cut':
      return trouble(`the connection to \`${host}\` was cut`)
    case 'proxy':
      return trouble(message, 'check HTTPS_PROXY; NO_PROXY names the hosts that are reached without it')
    default:
      return trouble(`the connection to \`${host}\` failed: ${message}`)
  }
}

/** Returns true if a retry can succeed. A wrong name or address is reported at once. */
export function isPassing(error: unknown): boolean {
  if (isCut(error) || failureOf(error) === 'no-connection') return true
  const code = codeOf(error)
  return code === 'EAI_AGAIN' || code.startsWith('HPE_')
}
