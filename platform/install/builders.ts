import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { BUILD_NAMESPACE, BUILDERS_SECRET, PLATFORM_NAMESPACE } from '../records/names.ts'
import { namespaceNamed, toDns, toOutside } from '../records/network-rules.ts'

/** The builders that come with a platform. */
export interface BundledBuilders {
  readonly image: string
  readonly count: number
  /** Of the disk of each: `50Gi`. It is decided when they are made. */
  readonly size: string
  /** Networks of the cluster that builds reach by HTTPS. */
  readonly networks: readonly string[]
  /** Networks of the cluster itself, which builds do not reach. */
  readonly clusterNetworks: readonly string[]
  /** But for these, with HTTPS: of the ingress controller, behind which the platform and its registry are. */
  readonly ingress: readonly IngressPeer[]
  /** Authorities that the platform trusts, in its ConfigMap `settings`. */
  readonly trusted?: string
}

/** Where an ingress controller is: an address as a network, or Pods, with the ports where these take HTTPS. */
export type IngressPeer =
  | { readonly cidr: string }
  | {
      readonly namespace: string
      readonly labels: Readonly<Record<string, string>>
      readonly ports: readonly (number | string)[]
    }

const NAME = 'builder'
const PORT = 1234
const USER = 1000
const SELECTOR = { 'app.kubernetes.io/name': NAME }
const LABELS = { ...SELECTOR, 'app.kubernetes.io/part-of': 'devctl' }
const CERTIFICATES = '/etc/devctl/builders'
const TRUST = '/etc/devctl/trust'
const metadata = { name: NAME, namespace: BUILD_NAMESPACE, labels: LABELS }

/** What all builders show who they are with. */
export const BUILDERS_NAME = `${NAME}.${BUILD_NAMESPACE}.svc`

/** The settings of the server for them. */
export const builderSettings = ({ count }: Pick<BundledBuilders, 'count'>) => ({
  default: Array.from({ length: count }, (_, at) => `tcp://${NAME}-${at}.${BUILDERS_NAME}:${PORT}`),
  certificates: '/etc/devctl-builders',
  serverName: BUILDERS_NAME,
  oneNamespace: true,
})

/**
 * BuildKit, as a user without rights on the node. The container is privileged only so that each step can have processes
 * of its own (a `/proc` that nothing is hidden of); what runs in it is user 1000, with no capability, and steps are
 * in a user namespace below that.
 */
export const builderObjects = (one: BundledBuilders): readonly KubeObject[] => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: BUILD_NAMESPACE,
      labels: { 'app.kubernetes.io/part-of': 'devctl', 'pod-security.kubernetes.io/enforce': 'privileged' },
    },
  },
  networkPolicy(one),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { 'buildkitd.toml': configOf(one), ...(one.trusted !== undefined && { 'ca.pem': one.trusted }) },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      clusterIP: 'None',
      selector: SELECTOR,
      ports: [{ name: 'grpc', port: PORT }],
      publishNotReadyAddresses: false,
    },
  },
  statefulSet(one),
]

/** Nobody reaches them but the server, and their builds reach what is outside of the cluster. */
const networkPolicy = ({ clusterNetworks, ingress, networks }: BundledBuilders): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata,
  spec: {
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        from: [
          {
            namespaceSelector: namespaceNamed(PLATFORM_NAMESPACE),
            podSelector: { matchLabels: { 'app.kubernetes.io/name': 'platform' } },
          },
        ],
        ports: [{ protocol: 'TCP', port: PORT }],
      },
    ],
    egress: [toDns, toOutside(clusterNetworks), ...[...networks.map(cidr => ({ cidr })), ...ingress].map(toIngress)],
  },
})

function toIngress(peer: IngressPeer): object {
  if ('cidr' in peer) return { to: [{ ipBlock: { cidr: peer.cidr } }], ports: [{ protocol: 'TCP', port: 443 }] }
  const { namespace, labels, ports } = peer
  return {
    to: [{ namespaceSelector: namespaceNamed(namespace), podSelector: { matchLabels: labels } }],
    ports: ports.map(port => ({ protocol: 'TCP', port })),
  }
}

/** https://github.com/moby/buildkit/blob/master/docs/buildkitd.toml.md */
const configOf = ({ size }: BundledBuilders): string => `debug = false

[grpc]
  address = ["tcp://0.0.0.0:${PORT}"]

[grpc.tls]
  ca = "${CERTIFICATES}/ca.crt"
  cert = "${CERTIFICATES}/tls.crt"
  key = "${CERTIFICATES}/tls.key"

[history]
  maxAge = 3600
  maxEntries = 50

[worker.containerd]
  enabled = false

[worker.oci]
  enabled = true
  gc = true
  noProcessSandbox = false

[[worker.oci.gcpolicy]]
  all = true
  keepDuration = "48h"
  maxUsedSpace = "${shareOf(size, 0.6)}MB"

[[worker.oci.gcpolicy]]
  all = true
  maxUsedSpace = "${shareOf(size, 0.8)}MB"
`

/** Megabytes: what is left is for the build that runs. */
const shareOf = (size: string, share: number): number => {
  const [, number = '', unit = 'Gi'] = /^(\d+)([MGT]i)$/.exec(size) ?? []
  return Math.floor(Number(number) * { Mi: 1, Gi: 1024, Ti: 1024 * 1024 }[unit as 'Mi' | 'Gi' | 'Ti'] * share)
}

function statefulSet(one: BundledBuilders): KubeObject {
  const hasTrust = one.trusted !== undefined
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: {
      replicas: one.count,
      serviceName: NAME,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: SELECTOR },
      template: {
        metadata: { labels: LABELS, annotations: { 'dev.platform/config': one.size } },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { fsGroup: USER, fsGroupChangePolicy: 'OnRootMismatch' },
          containers: [
            {
              name: NAME,
              image: one.image,
              args: ['--config', '/etc/buildkit/buildkitd.toml'],
              ...(hasTrust && { env: [{ name: 'SSL_CERT_DIR', value: `/etc/ssl/certs:${TRUST}` }] }),
              ports: [{ name: 'grpc', containerPort: PORT }],
              readinessProbe: { tcpSocket: { port: 'grpc' }, periodSeconds: 5 },
              resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '4Gi' } },
              securityContext: { privileged: true, runAsUser: USER, runAsGroup: USER, runAsNonRoot: true },
              volumeMounts: [
                { name: 'config', mountPath: '/etc/buildkit', readOnly: true },
                ...(hasTrust ? [{ name: 'trust', mountPath: TRUST, readOnly: true }] : []),
                { name: 'certificates', mountPath: CERTIFICATES, readOnly: true },
                { name: 'data', mountPath: '/home/user/.local/share/buildkit' },
              ],
            },
          ],
          volumes: [
            { name: 'config', configMap: { name: NAME, items: [{ key: 'buildkitd.toml', path: 'buildkitd.toml' }] } },
            ...(hasTrust
              ? [{ name: 'trust', configMap: { name: NAME, items: [{ key: 'ca.pem', path: 'ca.pem' }] } }]
              : []),
            { name: 'certificates', secret: { secretName: BUILDERS_SECRET, defaultMode: 0o440 } },
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
  }
}
