import { createHash, type KeyObject, X509Certificate } from 'node:crypto'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Certificate that values are encrypted for. None of its fields is secret. */
export interface SealingCertificate {
  readonly publicKey: KeyObject
  /**
   * Fingerprint of the public key, in hexadecimal digits. A certificate renewed for the same key decrypts the same
   * values.
   */
  readonly fingerprint: string
}

export interface ReadCertificate {
  readonly certificate: SealingCertificate
  /** Warnings about the certificate, phrased as diagnostics. */
  readonly warnings: readonly string[]
}

const SMALLEST_KEY = 2048
const FETCH_HINT = '`kubeseal --fetch-cert` prints the certificate of the cluster'

/**
 * Reads the PEM certificate of a cluster's Sealed Secrets controller; if the file has several, the first one, as
 * kubeseal does. `shown` names the file in messages. Throws a UserError for a text that is not a certificate; the
 * message never contains the file's content.
 */
export function readSealingCertificate(text: string, shown: string, now: Date): ReadCertificate {
  const refuse = (why: string, hint = FETCH_HINT) => new UserError(`\`${shown}\` ${why}`, { hint })
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text))
    throw refuse('contains a private key, but only the certificate is needed', `remove the key; ${FETCH_HINT}`)
  const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text)?.[0]
  if (pem === undefined) throw refuse('does not contain a PEM certificate')
  const x509 = parse(pem)
  if (x509 === undefined) throw refuse('contains a damaged certificate')
  const { publicKey, validFrom, validTo } = x509
  const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength = 0 } = {} } = publicKey
  if (type !== 'rsa') throw refuse(`is the certificate of a key that is not RSA (${type}), as that of the cluster is`)
  if (modulusLength < SMALLEST_KEY)
    throw refuse(`is the certificate of a key of ${modulusLength} bits: fewer than ${SMALLEST_KEY} are not safe`)

  const warnings = [
    ...(new Date(validTo) < now
      ? [`the certificate \`${shown}\` has expired on ${dayOf(validTo)}: the cluster has a newer one`]
      : []),
    ...(new Date(validFrom) > now ? [`the certificate \`${shown}\` is not valid before ${dayOf(validFrom)}`] : []),
  ]
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const fingerprint = createHash('sha256').update(spki).digest('hex')
  return { certificate: { publicKey, fingerprint }, warnings }
}

function parse(pem: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(pem)
    // The public key is only parsed here.
    certificate.publicKey.asymmetricKeyType
    return certificate
  } catch {
    return undefined
  }
}

const dayOf = (time: string) => new Date(time).toISOString().slice(0, 10)
