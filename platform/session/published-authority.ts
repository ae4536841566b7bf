import { X509Certificate } from 'node:crypto'
import { agentFor } from '../../adapters/http/agents.ts'
import { exchangeWhole } from '../../adapters/http/exchange.ts'
import type { PresentedAuthority } from '../../adapters/http/presented-certificate.ts'
import { proxyFor } from '../../adapters/http/proxy.ts'
import type { Info } from '../api/info.ts'
import { API } from '../api/prefix.ts'

/** Timeout for the platform's response in milliseconds, and maximum size of the response in bytes. */
const BOUNDS = { silence: 5000, limit: 2 << 20 }

/**
 * Returns the certificate authority with the given fingerprint, if it is among those that the platform publishes;
 * otherwise undefined. The connection is not verified: only a certificate with the fingerprint is used, and no
 * credential is sent.
 */
export async function publishedAuthority(
  server: URL,
  fingerprint: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<PresentedAuthority | undefined> {
  const agent = await agentFor(server, proxyFor(server, env), { rejectUnauthorized: false })
  try {
    const url = new URL(`${API}/info`, server)
    const { status, body } = await exchangeWhole({ url, method: 'GET', headers: {} }, agent, BOUNDS, signal)
    const { authorities = '' } = status === 200 ? (JSON.parse(body.toString('utf8')) as Partial<Info>) : {}
    for (const [pem] of String(authorities).matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)) {
      const found = new X509Certificate(pem)
      const [, name = found.subject] = /^CN=(.+)$/m.exec(found.subject) ?? []
      if (found.fingerprint256 === fingerprint) return { name, fingerprint, pem: found.toString() }
    }
    return undefined
  } catch {
    signal.throwIfAborted()
    return undefined
  } finally {
    agent.destroy()
  }
}
