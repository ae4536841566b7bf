import { createHash } from 'node:crypto'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { BUILD_NAMESPACE, BUILDERS_SECRET, PLATFORM_NAMESPACE, UNTRUSTED_BUILDERS_SECRET } from '../../records/names.ts'
import { namespaceNamed, toDns, toOutside } from '../../records/network-rules.ts'
import { OWN_WORKLOADS } from '../../records/own-workload.ts'

/** The builders that are installed with a platform. */
export interface BundledBuilders {
  readonly image: string
  readonly count: number
  /** The number of additional builders for code of forks. */
  readonly untrusted: number
  /** Size of each disk, such as `50Gi`. It cannot be changed later. */
  readonly size: string
  /** Networks of the cluster that builds may reach by HTTPS. */
  readonly networks: readonly string[]
  /** Networks of the cluster itself, which builds cannot reach. */
  readonly clusterNetworks: readonly string[]
  /** Private networks outside the cluster, which builds can reach. */
  readonly privateNetworks: readonly string[]
  /**
   * Addresses of the ingress controller, behind which the platform and its registry are. Builds can reach these
   * addresses by HTTPS even if they are in `clusterNetworks`.
   */
  readonly ingress: readonly IngressPeer[]
  /** Certificate authorities that the platform trusts, from its ConfigMap `settings`. */
  readonly trusted?: string
}

/** Address of an ingress controller: a network with just this address, or Pods with their ports for HTTPS. */
export type IngressPeer =
  | { readonly cidr: string }
  | {
      readonly namespace: string
      readonly labels: Readonly<Record<string, string>>
      readonly ports: readonly (number | string)[]
    }

/**
 * A pool of builders that trust each other: its objects, and the Secrets with which the builders and the server
 * authenticate.
 */
interface Pool {
  readonly name: string
  readonly secret: string
  /** Host name in the builders' certificates. */
  readonly host: string
  /** True if the cache is kept from one build to the next. */
  readonly keepsCache: boolean
}

const poolOf = (workload: 'builders' | 'untrustedBuilders', secret: string): Pool => {
  const { name, namespace } = OWN_WORKLOADS[workload]
  return { name, secret, host: `${name}.${namespace}.svc`, keepsCache: workload === 'builders' }
}

/** The pools of builders that can be installed. Credentials of one pool are not valid for the other. */
export const BUILDER_POOLS = {
  default: poolOf('builders', BUILDERS_SECRET),
  untrusted: poolOf('untrustedBuilders', UNTRUSTED_BUILDERS_SECRET),
} as const

const PORT = 1234
const USER = 1000
const PART_OF = { 'app.kubernetes.io/part-of': 'devctl' }
const CERTIFICATES = '/etc/devctl/builders'
const TRUST = '/etc/devctl/trust'
const selectorOf = ({ name }: Pool) => ({ 'app.kubernetes.io/name': name })
const metadataOf = (pool: Pool) => ({
  name: pool.name,
  namespace: BUILD_NAMESPACE,
  labels: { ...selectorOf(pool), ...PART_OF },
})

/** Returns the folder in which the server finds its certificate for the builders of a pool. */
export const certificatesFolder = ({ secret }: Pool): string => `/etc/devctl-${secret}`

/** Returns the server's settings about builders: for each pool that has builders, their addresses and certificates. */
export const builderSettings = ({ count, untrusted }: Pick<BundledBuilders, 'count' | 'untrusted'>) => {
  const addresses = ({ name, host }: Pool, count: number) =>
    Array.from({ length: count }, (_, at) => `tcp://${name}-${at}.${host}:${PORT}`)
  const { default: own, untrusted: forks } = BUILDER_POOLS
  return {
    ...(count > 0 && {
      default: addresses(own, count),
      certificates: certificatesFolder(own),
      serverName: own.host,
      oneNamespace: true,
    }),
    ...(untrusted > 0 && {
      untrusted: addresses(forks, untrusted),
      untrustedCertificates: certificatesFolder(forks),
      untrustedServerName: forks.host,
    }),
  }
}

/** Keys of the settings that `builderSettings` writes, by pool. */
export const DECIDED_OF_BUILDERS = {
  default: ['default', 'certificates', 'serverName', 'oneNamespace'],
  untrusted: ['untrusted', 'untrustedCertificates', 'untrustedServerName'],
} as const

/**
 * Returns the objects of BuildKit, which runs as a user without permissions on the node. The container is privileged
 * only because each build step gets its own process namespace (with an unmasked `/proc`). The processes of BuildKit run
 * as user 1000 without capabilities, and build steps run in a user namespace of this user.
 */
export const builderObjects = (one: BundledBuilders): readonly KubeObject[] => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: BUILD_NAMESPACE,
      labels: { ...PART_OF, 'pod-security.kubernetes.io/enforce': 'privileged' },
    },
  },
  networkPolicy(one),
  ...poolObjects(BUILDER_POOLS.default, one.count, one),
  ...poolObjects(BUILDER_POOLS.untrusted, one.untrusted, one),
]

const poolObjects = (pool: Pool, count: number, one: BundledBuilders): readonly KubeObject[] =>
  count === 0
    ? []
    : [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: metadataOf(pool),
          data: { 'buildkitd.toml': configOf(pool, one), ...(one.trusted !== undefined && { 'ca.pem': one.trusted }) },
        },
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: metadataOf(pool),
          spec: {
            clusterIP: 'None',
            selector: selectorOf(pool),
            ports: [{ name: 'grpc', port: PORT }],
            publishNotReadyAddresses: false,
          },
        },
        statefulSet(pool, count, one),
      ]

/**
 * Returns the network policy of the builders of all pools. Only the server can reach the builders, so they cannot reach
 * each other. Builds can reach addresses outside the cluster.
 */
const networkPolicy = ({ ingress, networks, ...outside }: BundledBuilders): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: metadataOf(BUILDER_POOLS.default),
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
    egress: [toDns, toOutside(outside), ...[...networks.map(cidr => ({ cidr })), ...ingress].map(toIngress)],
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

/** Returns the configuration of BuildKit: https://github.com/moby/buildkit/blob/master/docs/buildkitd.toml.md */
const configOf = ({ keepsCache }: Pool, { size }: BundledBuilders): string => `debug = false

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

${keepsCache ? cacheUpTo(size) : NO_CACHE}`

const cacheUpTo = (size: string): string => `[[worker.oci.gcpolicy]]
  all = true
  keepDuration = "48h"
  maxUsedSpace = "${shareOf(size, 0.6)}MB"

[[worker.oci.gcpolicy]]
  all = true
  maxUsedSpace = "${shareOf(size, 0.8)}MB"
`

/**
 * BuildKit policy that deletes every cache entry soon after its last use. BuildKit applies the policy about once a
 * minute; the server also empties a builder before another namespace uses it.
 */
const NO_CACHE = `[[worker.oci.gcpolicy]]
  all = true
  keepDuration = "1s"
`

/**
 * Returns a part of a disk's size in megabytes; `share` is a fraction from 0 to 1. The rest of the disk is for the
 * running build.
 */
const shareOf = (size: string, share: number): number => {
  const [, number = '', unit = 'Gi'] = /^(\d+)([MGT]i)$/.exec(size) ?? []
  return Math.floor(Number(number) * { Mi: 1, Gi: 1024, Ti: 1024 * 1024 }[unit as 'Mi' | 'Gi' | 'Ti'] * share)
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** CPU limit of the builders for forks: everyone who can open a pull request can run code there. */
const UNTRUSTED_CPU = '2'

function statefulSet(pool: Pool, count: number, one: BundledBuilders): KubeObject {
  const hasTrust = one.trusted !== undefined
  const { name } = pool
  const metadata = metadataOf(pool)
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: {
      replicas: count,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: selectorOf(pool) },
      template: {
        metadata: {
          labels: metadata.labels,
          annotations: {
            'dev.platform/config': one.size,
            // BuildKit reads the authorities only at startup.
            ...(one.trusted !== undefined && { 'dev.platform/authorities': hashOf(one.trusted) }),
          },
        },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { fsGroup: USER, fsGroupChangePolicy: 'OnRootMismatch' },
          containers: [
            {
              name,
              image: one.image,
              args: ['--config', '/etc/buildkit/buildkitd.toml'],
              ...(hasTrust && { env: [{ name: 'SSL_CERT_DIR', value: `/etc/ssl/certs:${TRUST}` }] }),
              ports: [{ name: 'grpc', containerPort: PORT }],
              readinessProbe: { tcpSocket: { port: 'grpc' }, periodSeconds: 5 },
              resources: {
                requests: { cpu: '250m', memory: '512Mi' },
                limits: { memory: '4Gi', ...(pool.keepsCache ? {} : { cpu: UNTRUSTED_CPU }) },
              },
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
            { name: 'config', configMap: { name, items: [{ key: 'buildkitd.toml', path: 'buildkitd.toml' }] } },
            ...(hasTrust ? [{ name: 'trust', configMap: { name, items: [{ key: 'ca.pem', path: 'ca.pem' }] } }] : []),
            { name: 'certificates', secret: { secretName: pool.secret, defaultMode: 0o440 } },
            ...(pool.keepsCache ? [] : [{ name: 'data', emptyDir: { sizeLimit: one.size } }]),
          ],
        },
      },
      ...(pool.keepsCache && {
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: one.size } } },
          },
        ],
      }),
    },
  }
}
