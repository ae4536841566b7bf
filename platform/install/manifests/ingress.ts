import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'

/** Settings of the Ingress through which the platform is reached from outside the cluster. */
export interface IngressOptions {
  /**
   * Secret in `devctl-platform` with a certificate for `*.DOMAIN`. If absent, the ingress controller's default
   * certificate.
   */
  readonly tlsSecret?: string
  readonly ingressClass?: string
}

/** Returns an Ingress that routes all requests for a host to the port `http` of a Service. */
export function ingressTo(
  { tlsSecret, ingressClass }: IngressOptions,
  host: string,
  service: string,
  metadata: KubeObject['metadata'],
): KubeObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata,
    spec: {
      ...(ingressClass !== undefined && { ingressClassName: ingressClass }),
      tls: [{ hosts: [host], ...(tlsSecret !== undefined && { secretName: tlsSecret }) }],
      rules: [
        {
          host,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port: { name: 'http' } } } }],
          },
        },
      ],
    },
  }
}
