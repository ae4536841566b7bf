import { presentedCertificate } from '../../../adapters/http/presented-certificate.ts'
import { proxyFor } from '../../../adapters/http/proxy.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import { REACH } from '../checks/certificate-status.ts'

/**
 * Connects to a platform or an API server, and returns the fingerprint (SHA-256) of the authority that has signed the
 * server's certificate. Undefined if this authority is not among `authorities` (PEM, from `--ca`), if the URL is not
 * HTTPS, or if the server does not answer.
 */
export async function givenAuthority(
  { env, signal }: { readonly env: Readonly<Record<string, string | undefined>>; readonly signal: AbortSignal },
  url: string,
  authorities: string | undefined,
): Promise<string | undefined> {
  const server = new URL(url)
  if (authorities === undefined || server.protocol !== 'https:') return undefined
  try {
    const limit = withTimeLimit(REACH, signal)
    // Trusts no other authority, not even one that this machine trusts.
    const { distrust, root } = await presentedCertificate(server, limit, proxyFor(server, env), [authorities])
    return distrust === undefined ? root?.fingerprint : undefined
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}
