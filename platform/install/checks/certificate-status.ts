import { type PresentedCertificate, presentedCertificate } from '../../../adapters/http/presented-certificate.ts'
import { proxyFor } from '../../../adapters/http/proxy.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import type { PlatformProblem } from '../../session/platform-problem.ts'

/**
 * Timeout for a connection to the address of the platform, in milliseconds: an unreachable address is reported without
 * a long wait.
 */
export const REACH = 10_000
/** Remaining validity, in days, below which the renewal of a certificate is overdue. */
const RENEWAL = 14
const DAY = 86_400_000

interface CertificateContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/**
 * Connects to the address of a platform and returns the certificate that it presents, or the problem. Undefined if the
 * address is not HTTPS, or is reached through a proxy.
 */
export async function askForCertificate(
  { env, signal }: CertificateContext,
  url: string,
): Promise<PresentedCertificate | { readonly problem: string } | undefined> {
  const server = new URL(url)
  if (server.protocol !== 'https:' || proxyFor(server, env) !== undefined) return undefined
  try {
    return await presentedCertificate(server, withTimeLimit(REACH, signal))
  } catch (error) {
    signal.throwIfAborted()
    return { problem: (error as Error).message }
  }
}

/** Issuer of the certificate of a platform: its own authority, cert-manager, or another authority. */
export type CertificateSource = 'own' | 'cert-manager' | 'other'

const RENEWED_BY: Readonly<Record<CertificateSource, string>> = {
  own: '`devctl platform install` makes a new one',
  'cert-manager':
    'cert-manager did not renew it: `kubectl --namespace devctl-platform describe certificate platform-tls` says why',
  other: 'renew it in the Secret that `--tls-secret` names, or in the ingress controller',
}

/**
 * Returns the problems of a certificate; none if no certificate was presented. `isTrusted` is true if the platform's
 * own authority, or an authority of `--ca`, has signed the certificate. In that case, it does not matter that this
 * machine does not trust it.
 */
export function certificateProblems(
  url: string,
  certificate: Awaited<ReturnType<typeof askForCertificate>>,
  now: number,
  { source, isTrusted }: { readonly source: CertificateSource; readonly isTrusted: boolean },
): readonly PlatformProblem[] {
  // Another check already reports an address that does not answer.
  if (!certificate || 'problem' in certificate) return []
  const { names, until, distrust, covers } = certificate
  const notes = [`it is for ${names.map(name => `\`${name}\``).join(', ') || 'no host'}`]
  const { host, hostname } = new URL(url)
  const days = Math.floor((until.getTime() - now) / DAY)
  const any = hostname.replace(/^[^.]+/, 'any-app')
  const renew = RENEWED_BY[source]
  return [
    ...(days < 0 ? [{ message: `the certificate of ${host} has expired`, notes, hint: renew }] : []),
    ...(days >= 0 && days < RENEWAL
      ? [{ message: `the certificate of ${host} expires in ${days} days`, notes, hint: renew }]
      : []),
    ...(distrust !== undefined && days >= 0 && !isTrusted
      ? [
          {
            message: `this machine does not trust the certificate of ${host}: ${distrust}`,
            notes,
            hint: 'if a private authority has signed it, name that, so that people can compare its fingerprint: `devctl platform install --ca FILE`',
          },
        ]
      : []),
    ...(covers(any)
      ? []
      : [
          {
            message: 'the certificate is not for the hosts of environments',
            notes,
            hint: `use one for \`*${hostname.replace(/^[^.]+/, '')}\`: \`devctl platform install --tls-secret NAME\``,
          },
        ]),
  ]
}
