import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE } from '../records/names.ts'

/** The Secret of a certificate that is made by installing, by cert-manager or by an authority of its own. */
export const MADE_CERTIFICATE = 'platform-tls'

/** The hosts that a certificate of the platform is for: itself, and those of environments. */
export const certifiedHosts = (domain: string): readonly string[] => [`*.${domain}`, domain]

/** Asks cert-manager for the certificate: https://cert-manager.io/docs/reference/api-docs/#cert-manager.io/v1.Certificate */
export const certificateOf = (domain: string, issuer: string): KubeObject => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: {
    name: MADE_CERTIFICATE,
    namespace: PLATFORM_NAMESPACE,
    labels: { 'app.kubernetes.io/part-of': 'devctl' },
  },
  spec: {
    secretName: MADE_CERTIFICATE,
    dnsNames: [...certifiedHosts(domain)],
    issuerRef: { group: 'cert-manager.io', kind: 'ClusterIssuer', name: issuer },
    privateKey: { rotationPolicy: 'Always' },
  },
})
