import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { checkServerIdentity, connect, type DetailedPeerCertificate } from 'node:tls'
import { tunnelTo } from './agents.ts'

/** The certificate that a server presents, whether or not this machine trusts it. */
export interface PresentedCertificate {
  /** Host names in the certificate: `dev.example.com`, `*.dev.example.com`. */
  readonly names: readonly string[]
  /** Name of the certificate's issuer. */
  readonly issuer: string
  readonly from: Date
  readonly until: Date
  /** SHA-256 fingerprint, in hexadecimal with colons. */
  readonly fingerprint: string
  /** Authority at the end of the chain, if the server presents it. */
  readonly root?: PresentedAuthority
  /** Reason why this machine does not trust the certificate; undefined if it does. */
  readonly distrust?: string
  /** Returns true if the certificate is valid for the given host. */
  covers(host: string): boolean
}

/** A self-signed authority. */
export interface PresentedAuthority {
  readonly name: string
  readonly fingerprint: string
  readonly pem: string
}

/**
 * Connects to a server, through the proxy if one is set, only to read its certificate. `trusted` are the authorities
 * (PEM) that count as trusted; by default, those of this machine. Rejects if the server does not respond in time.
 */
export async function presentedCertificate(
  server: URL,
  signal: AbortSignal,
  proxy?: string,
  trusted?: readonly string[],
): Promise<PresentedCertificate> {
  signal.throwIfAborted()
  // Nothing is sent, and no received data is trusted.
  const host = server.hostname.replace(/^\[|\]$/g, '')
  // An IP address cannot be requested as a server name.
  const options = {
    servername: isIP(host) ? '' : host,
    rejectUnauthorized: false,
    ...(trusted && { ca: [...trusted] }),
  }
  const socket =
    proxy === undefined
      ? connect({ ...options, host, port: Number(server.port || 443) })
      : await tunnelTo(server, proxy, options)
  return new Promise((resolve, reject) => {
    const stop = () => socket.destroy(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    socket.once('close', () => {
      signal.removeEventListener('abort', stop)
      reject(new Error('the connection was closed'))
    })
    if (signal.aborted) stop()
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate(true)
      const { authorized, authorizationError } = socket
      socket.destroy()
      resolve(toPresented(certificate, authorized ? undefined : String(authorizationError)))
    })
  })
}

function toPresented(certificate: DetailedPeerCertificate, distrust: string | undefined): PresentedCertificate {
  const { subjectaltname = '', issuer, valid_from, valid_to, fingerprint256 } = certificate
  return {
    names: subjectaltname.split(', ').flatMap(one => (one.startsWith('DNS:') ? [one.slice(4)] : [])),
    issuer: [issuer.CN, issuer.O].flat().find(Boolean) ?? '-',
    from: new Date(valid_from),
    until: new Date(valid_to),
    fingerprint: fingerprint256,
    ...rootOf(certificate),
    ...(distrust !== undefined && { distrust }),
    covers: host => checkServerIdentity(host, certificate) === undefined,
  }
}

/** Maximum number of certificates followed in a chain. */
const LONGEST = 10

function rootOf(leaf: DetailedPeerCertificate): { readonly root?: PresentedAuthority } {
  let one = leaf
  for (let length = 0; length < LONGEST && one.issuerCertificate && one.issuerCertificate !== one; length++)
    one = one.issuerCertificate
  const found = new X509Certificate(one.raw)
  const isAuthority = found.ca && found.checkIssued(found) && found.verify(found.publicKey)
  if (!isAuthority || one === leaf) return {}
  return { root: { name: String(one.subject.CN), fingerprint: found.fingerprint256, pem: found.toString() } }
}
