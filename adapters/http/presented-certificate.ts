import { checkServerIdentity, connect, type PeerCertificate } from 'node:tls'

/** The certificate that a server presents, whether it is trusted here or not. */
export interface PresentedCertificate {
  /** `dev.example.com`, `*.dev.example.com`. */
  readonly names: readonly string[]
  /** What its issuer is called. */
  readonly issuer: string
  readonly from: Date
  readonly until: Date
  /** SHA-256, in hexadecimal with colons. */
  readonly fingerprint: string
  /** Why this machine does not trust it; undefined when it does. */
  readonly distrust?: string
  /** True if it is for this host, too. */
  covers(host: string): boolean
}

/** Asks a server for its certificate, and nothing more. Rejects when it does not answer in time. */
export function presentedCertificate(server: URL, signal: AbortSignal): Promise<PresentedCertificate> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: server.hostname,
      port: Number(server.port || 443),
      servername: server.hostname,
      // Nothing is sent, and nothing that is read is believed.
      rejectUnauthorized: false,
    })
    const stop = () => socket.destroy(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    socket.once('close', () => signal.removeEventListener('abort', stop))
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate()
      const { authorized, authorizationError } = socket
      socket.destroy()
      resolve(toPresented(certificate, authorized ? undefined : String(authorizationError)))
    })
  })
}

function toPresented(certificate: PeerCertificate, distrust: string | undefined): PresentedCertificate {
  const { subjectaltname = '', issuer, valid_from, valid_to, fingerprint256 } = certificate
  return {
    names: subjectaltname.split(', ').flatMap(one => (one.startsWith('DNS:') ? [one.slice(4)] : [])),
    issuer: [issuer.CN, issuer.O].flat().find(Boolean) ?? '-',
    from: new Date(valid_from),
    until: new Date(valid_to),
    fingerprint: fingerprint256,
    ...(distrust !== undefined && { distrust }),
    covers: host => checkServerIdentity(host, certificate) === undefined,
  }
}
