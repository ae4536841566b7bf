import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { PLATFORM_NAMESPACE, REGISTRY_SECRET } from '../../records/names.ts'
import { type IngressOptions, ingressTo } from './ingress.ts'
import { diskContainer } from './registry-disk.ts'

/**
 * Settings of the registry that is installed with a platform. Its program is `distribution`
 * (https://distribution.github.io/distribution/).
 */
export interface BundledRegistry extends IngressOptions {
  readonly image: string
  /** Size of the registry's disk, such as `50Gi`. It cannot be changed later. */
  readonly size: string
  readonly domain: string
  /** URL of the platform. */
  readonly url: string
}

const NAME = 'registry'
const PORT = 5000
const LABELS = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/part-of': 'devctl' }
const TRUST = '/etc/registry-trust'

/** Returns the host that nodes pull from. */
export const registryHost = (domain: string): string => `images.${domain}`

const metadata = { name: NAME, namespace: PLATFORM_NAMESPACE, labels: LABELS }

/**
 * Returns the objects of the registry. The registry accepts tokens that the platform signs. It has only the certificate
 * for checking the signature, not the private key.
 */
export const registryObjects = (one: BundledRegistry): readonly KubeObject[] => [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { 'config.yml': `${JSON.stringify(configOf(one), undefined, 2)}\n` },
  },
  // Network policy without egress rules, because the registry opens no connections.
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: { podSelector: { matchLabels: { 'app.kubernetes.io/name': NAME } }, policyTypes: ['Egress'] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: { 'app.kubernetes.io/name': NAME }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  },
  statefulSet(one),
  ingressTo(one, registryHost(one.domain), NAME, {
    ...metadata,
    // A layer is uploaded in a single request, however large it is.
    annotations: {
      'nginx.ingress.kubernetes.io/proxy-body-size': '0',
      'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '900',
    },
  }),
]

/**
 * Returns the content of `config.yml` for the registry. Its fields are described at
 * https://distribution.github.io/distribution/about/configuration/.
 */
const configOf = ({ domain, url }: BundledRegistry) => ({
  version: '0.1',
  log: { level: 'info' },
  storage: {
    filesystem: { rootdirectory: '/data' },
    delete: { enabled: true },
    cache: { blobdescriptor: 'inmemory' },
    maintenance: { uploadpurging: { enabled: true, age: '24h', interval: '6h', dryrun: false } },
  },
  // Behind an ingress, the registry does not know its own address.
  http: { addr: `:${PORT}`, relativeurls: true },
  auth: {
    token: {
      realm: `${url}/api/v1/registry/token`,
      service: registryHost(domain),
      issuer: url,
      rootcertbundle: `${TRUST}/tls.crt`,
    },
  },
})

const statefulSet = (one: BundledRegistry): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata,
  spec: {
    replicas: 1,
    serviceName: NAME,
    selector: { matchLabels: { 'app.kubernetes.io/name': NAME } },
    template: {
      // The configuration is only read at startup.
      metadata: { labels: LABELS, annotations: { 'dev.platform/url': one.url } },
      spec: {
        automountServiceAccountToken: false,
        // Kubernetes would set variables such as `REGISTRY_PORT` for the Service, which the registry would read as
        // settings.
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65532,
          runAsGroup: 65532,
          fsGroup: 65532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [
          {
            name: NAME,
            image: one.image,
            ports: [{ name: 'http', containerPort: PORT }],
            readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 2 },
            resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '512Mi' } },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            volumeMounts: [
              { name: 'config', mountPath: '/etc/registry', readOnly: true },
              { name: 'trust', mountPath: TRUST, readOnly: true },
              { name: 'data', mountPath: '/data' },
            ],
          },
          diskContainer(one.image),
        ],
        volumes: [
          { name: 'config', configMap: { name: NAME } },
          // Mounted without the private key, so that an attacker who takes over the registry cannot sign tokens.
          { name: 'trust', secret: { secretName: REGISTRY_SECRET, items: [{ key: 'tls.crt', path: 'tls.crt' }] } },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: one.size } } },
      },
    ],
  },
})
