import { RegistryTrouble } from './registry-problem.ts'

/** Says in a user's words why there is no answer from a server. `error` is Node's. */
export function toUnreachable(error: unknown, { hostname, host }: URL): RegistryTrouble {
  const { code = '', message } = error as NodeJS.ErrnoException // what node:http gives is an Error
  const trouble = (reason: string, hint?: string) =>
    new RegistryTrouble({ kind: 'unreachable', reason, ...(hint !== undefined && { hint }) })
  if (isCertificateProblem(code))
    return trouble(
      `the certificate of \`${host}\` is not to be trusted (${message})`,
      'name the file of the certificate authority in NODE_EXTRA_CA_CERTS',
    )
  if (code === 'EPROTO' || code.startsWith('ERR_SSL'))
    return trouble(
      `\`${host}\` does not speak TLS`,
      'devctl talks without encryption to registries of this machine only; name the image by its digest, `NAME@sha256:…`',
    )
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return trouble(`the name \`${hostname}\` leads to no address`, 'check the name of the registry, and the network')
    case 'ECONNREFUSED':
      return trouble(`nothing listens at \`${host}\``, 'check the name and the port of the registry')
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return trouble(`there is no way to \`${host}\` in the network`)
    case 'ETIMEDOUT':
      return trouble(`\`${host}\` does not answer in time`)
    case 'ECONNRESET':
    case 'EPIPE':
      return trouble(`the connection to \`${host}\` was cut`)
  }
  return trouble(`the connection to \`${host}\` failed: ${message}`)
}

/** Whether the same may go well a moment later. */
export function isPassing(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException // what node:http gives is an Error
  return ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT', 'EAI_AGAIN'].includes(code) || code.startsWith('HPE_')
}

/** Whether there was no word in time. */
export const isSilence = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ETIMEDOUT' // as above

const isCertificateProblem = (code: string): boolean =>
  /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|SELF_SIGNED/.test(code) && !code.includes('ALERT')
