import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE } from '../../records/names.ts'

/** The Secret with a certificate that devctl generates or cert-manager issues. */
export const MADE_CERTIFICATE = 'platform-tls'

/**
 * Returns the hosts of the platform's certificate: the host of the platform itself, and a wildcard for the hosts of
 * environments.
 */
export const certifiedHosts = (domain: string): readonly string[] => [`*.${domain}`, domain]

/**
 * Returns the object that requests the certificate from cert-manager:
 * https://cert-manager.io/docs/reference/api-docs/#cert-manager.io/v1.Certificate
 */
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
