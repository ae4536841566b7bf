import { X509Certificate } from 'node:crypto'
import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE } from '../../records/names.ts'
import { certifiedHosts, MADE_CERTIFICATE } from '../manifests/certificate.ts'
import { type KeyedCertificate, makeAuthority, makeCertificate, maySignFor } from './certificates.ts'

/** The Secret with the platform's own certificate authority. The server's account cannot read it. */
export const OWN_AUTHORITY = 'own-ca'
const DAY = 86_400_000
/** Lifetime of a certificate, in days. Browsers refuse certificates with a longer lifetime. */
const LIFETIME = 397
/** Remaining validity of a certificate, in days, from which another `install` renews the certificate. */
const RENEWAL = 120

const refOf = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', name, namespace: PLATFORM_NAMESPACE }) as const

/** Returns the fingerprint (SHA-256) of the platform's own certificate authority; undefined if it has none. */
export async function ownFingerprint(cluster: Cluster, signal: AbortSignal): Promise<string | undefined> {
  const found = keyed(await cluster.get(refOf(OWN_AUTHORITY), { signal }))
  return found && new X509Certificate(found.certificate).fingerprint256
}

/**
 * Creates the platform's own certificate authority, unless one for the domain exists. Also creates a certificate for
 * the domain, unless one exists that is valid for at least `RENEWAL` more days. Returns the fingerprint (SHA-256) of
 * the authority.
 */
export async function keepOwnCertificate(
  cluster: Cluster,
  domain: string,
  now: number,
  signal: AbortSignal,
): Promise<string> {
  const kept = keyed(await cluster.get(refOf(OWN_AUTHORITY), { signal }))
  const authority = kept && maySignFor(kept.certificate, domain) ? kept : await makeOnce(cluster, domain, now, signal)
  const live = keyed(await cluster.get(refOf(MADE_CERTIFICATE), { signal }))
  if (!live || !isGood(live.certificate, authority.certificate, domain, now)) {
    const hosts = certifiedHosts(domain)
    const made = makeCertificate(
      authority,
      { name: hosts[0]!, others: hosts.slice(1), use: 'server', days: LIFETIME },
      now,
    )
    // Includes the authority, so that clients that do not trust it yet can show its fingerprint for comparison.
    const chain = { certificate: `${made.certificate}${authority.certificate}`, key: made.key }
    await cluster.apply(toSecret(MADE_CERTIFICATE, chain), { manager: 'devctl', force: true, signal })
  }
  return new X509Certificate(authority.certificate).fingerprint256
}

/**
 * Creates the platform's own authority. Keeps an authority that was created in the meantime and may sign for the
 * domain, because everyone who trusts it would take the platform for another one. Replaces an authority for another
 * domain.
 */
async function makeOnce(cluster: Cluster, domain: string, now: number, signal: AbortSignal): Promise<KeyedCertificate> {
  const made = makeAuthority(`devctl platform ${domain}`.slice(0, 64), now, domain)
  try {
    await cluster.create(toSecret(OWN_AUTHORITY, made), { signal })
    return made
  } catch (error) {
    if (!(error instanceof ClusterError) || error.failure !== 'exists') throw error
    const other = keyed(await cluster.get(refOf(OWN_AUTHORITY), { signal }))
    if (other && maySignFor(other.certificate, domain)) return other
    // The existing authority is for the previous domain. At the new address, every user has to confirm the authority
    // again.
    await cluster.apply(toSecret(OWN_AUTHORITY, made), { manager: 'devctl', force: true, signal })
    return made
  }
}

const toSecret = (name: string, { certificate, key }: KeyedCertificate): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: PLATFORM_NAMESPACE, labels: { 'app.kubernetes.io/part-of': 'devctl' } },
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': toBase64(certificate), 'tls.key': toBase64(key) },
})

const toBase64 = (text: string): string => Buffer.from(text).toString('base64')

function keyed(live: KubeObject | undefined): KeyedCertificate | undefined {
  const data = live?.['data'] as Readonly<Record<string, string>> | undefined // a Secret's
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString()
  return data?.['tls.crt'] && data['tls.key'] ? { certificate: text('tls.crt'), key: text('tls.key') } : undefined
}

function isGood(certificate: string, authority: string, domain: string, now: number): boolean {
  try {
    const [one, ca] = [new X509Certificate(certificate), new X509Certificate(authority)]
    const isOurs = one.checkIssued(ca) && one.verify(ca.publicKey)
    return isOurs && one.checkHost(`platform.${domain}`) !== undefined && Date.parse(one.validTo) - now > RENEWAL * DAY
  } catch {
    return false
  }
}
