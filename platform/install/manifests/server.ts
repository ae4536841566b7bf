import { createHash } from 'node:crypto'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import {
  BUILD_NAMESPACE,
  KEEPER,
  KEYS_SECRET,
  LOGIN_SECRET,
  PLATFORM_NAMESPACE,
  REGISTRY_DISK,
  REGISTRY_SECRET,
  RUNS_ADDRESS,
  RUNS_NAMESPACE,
  RUNS_PORT,
  SERVER_ACCOUNT,
  USERS_NAMESPACE,
} from '../../records/names.ts'
import { namespaceNamed, toDns, toOutside } from '../../records/network-rules.ts'
import { OWN_WORKLOADS } from '../../records/own-workload.ts'
import type { ProviderSettings } from '../../rules/accounts/provider.ts'
import {
  BUILDER_POOLS,
  type BundledBuilders,
  builderObjects,
  builderSettings,
  certificatesFolder,
  type IngressPeer,
} from './builders.ts'
import { certificateOf } from './certificate.ts'
import { endpointsPolicy } from './endpoints.ts'
import { eventsPolicy } from './events.ts'
import { fence } from './fence.ts'
import { finalizersPolicy } from './finalizers.ts'
import { hostsPolicy } from './hosts.ts'
import type { PlatformImageName, PlatformImages } from './images.ts'
import { type IngressOptions, ingressTo } from './ingress.ts'
import { networkPoliciesPolicy } from './network-policies.ts'
import { podImagesPolicy } from './pod-images.ts'
import { podsPolicy } from './pods.ts'
import { registryObjects } from './registry.ts'
import { keeperRole, memberRoles } from './roles.ts'

/** An address as a single-address network, and a TCP port. */
export interface NetworkAddress {
  readonly cidr: string
  readonly port: number
}

/** The options that an operator has chosen for a platform. */
export interface Installation extends IngressOptions {
  readonly version: string
  /** Domain below which environments get their hosts. The host of the platform is `platform.DOMAIN`. */
  readonly domain: string
  /** Image of the server. */
  readonly image: string
  /** Image for runs: Node.js, git, and devctl. */
  readonly runnerImage: string
  readonly replicas: number
  /** True if the platform's own authority signs the certificate. */
  readonly ownCa?: boolean
  /** The ClusterIssuer of cert-manager that issues the certificate. */
  readonly certManager?: string
  /** Networks of the cluster itself, which namespaces cannot reach. */
  readonly clusterNetworks?: readonly string[]
  /** True if the operator has set `clusterNetworks`. An upgrade then does not add the networks that it finds. */
  readonly areNetworksNamed?: boolean
  /** Private networks outside the cluster that Pods of namespaces, runs and builds can reach. */
  readonly privateNetworks?: readonly string[]
  /** Addresses of the API server for Pods: its Service, and its endpoints. */
  readonly apiServer?: readonly NetworkAddress[]
  /** Addresses and networks whose `X-Forwarded-For` is trusted. If absent, the installed setting is kept. */
  readonly trustedProxies?: readonly string[]
  /** Address of the API server for programs of users. */
  readonly kubernetes: { readonly server: string; readonly ca?: string }
  /** Login providers. Logins by link are possible in addition. */
  readonly providers?: readonly ProviderSettings[]
  /** Settings that an administrator has edited, as `undecided` returns them. */
  readonly kept?: Readonly<Record<string, unknown>>
  /** Registry for images of users: a host, perhaps with a path. If absent, the installed setting is kept. */
  readonly registry?: string
  /** True if the registry accepts tokens of the platform. */
  readonly hasRegistryTokens?: boolean
  /** Set if the registry is the one that is installed with the platform. */
  readonly bundledRegistry?: { readonly image: string; readonly size: string }
  /** Builders that are installed with the platform. */
  readonly bundledBuilders?: Pick<BundledBuilders, 'image' | 'count' | 'untrusted' | 'size' | 'networks'>
  /** Addresses at which Pods reach the ingress controller. */
  readonly ingressPeers?: readonly IngressPeer[]
  /** Certificate authorities, in PEM, that the server, runs and builders trust in addition to those of their images. */
  readonly trusted?: string
}

const NAME = 'platform'
const PORT = 8080
/**
 * Key of the settings in the ConfigMap `settings`. `TRUSTED_FILE` is the key of the certificate authorities that the
 * platform trusts, in the same ConfigMap.
 */
export const SETTINGS_FILE = 'settings.json'
export const TRUSTED_FILE = 'ca.pem'
/** Annotation of the server's Pods with a hash of the settings. */
const SETTINGS_HASH = 'dev.platform/settings'
const RBAC = 'rbac.authorization.k8s.io'
const SELECTOR = { 'app.kubernetes.io/name': NAME }
const LABELS = { ...SELECTOR, 'app.kubernetes.io/part-of': 'devctl' }

export const urlOf = ({ domain }: Pick<Installation, 'domain'>): string => `https://platform.${domain}`

/** Returns the images that an installation runs. */
export const imagesUsed = (one: Installation): readonly PlatformImageName[] => [
  'platform',
  'runner',
  ...(one.bundledRegistry ? (['registry'] as const) : []),
  ...(one.bundledBuilders ? (['buildkit'] as const) : []),
]

/** Returns an installation with other images. */
export const withImages = (one: Installation, images: PlatformImages): Installation => ({
  ...one,
  image: images.platform,
  runnerImage: images.runner,
  ...(one.bundledRegistry && { bundledRegistry: { ...one.bundledRegistry, image: images.registry } }),
  ...(one.bundledBuilders && { bundledBuilders: { ...one.bundledBuilders, image: images.buildkit } }),
})

/** Returns all objects of a platform, in the order in which they are applied (design, sections 2, 3 and 12). */
export function platformObjects(one: Installation): readonly KubeObject[] {
  return [
    ...[PLATFORM_NAMESPACE, USERS_NAMESPACE, RUNS_NAMESPACE].map(namespace),
    ...memberRoles(),
    keeperRole(),
    ...fence(SERVER_ACCOUNT),
    runsNetworkPolicy(one),
    runsAuthorities(one),
    serverNetworkPolicy,
    ...hostsPolicy(one.domain),
    ...networkPoliciesPolicy(),
    ...podsPolicy(),
    ...podImagesPolicy(one.registry),
    ...eventsPolicy(),
    ...endpointsPolicy(),
    ...finalizersPolicy(),
    // Applied before the server, so that the builders already trust the certificate that it connects with.
    ...(one.bundledBuilders
      ? [
          ...builderObjects({ ...withNetworks(one), ...one.bundledBuilders }),
          ...granted(BUILD_NAMESPACE, [
            ...(one.bundledBuilders.count > 0 ? [seen('builders')] : []),
            ...(one.bundledBuilders.untrusted > 0 ? [seen('untrustedBuilders')] : []),
          ]),
        ]
      : []),
    account(),
    ...rights(),
    settings(one),
    deployment(one),
    service(),
    ingress(one),
    wakerIngress(one),
    ...(one.certManager === undefined ? [] : [certificateOf(one.domain, one.certManager)]),
    ...(one.bundledRegistry ? registryObjects({ ...one, ...one.bundledRegistry, url: urlOf(one) }) : []),
  ]
}

const withNetworks = ({ clusterNetworks = [], privateNetworks = [], ingressPeers, trusted }: Installation) => ({
  clusterNetworks,
  privateNetworks,
  ingress: ingressPeers ?? [],
  ...(trusted !== undefined && { trusted }),
})

/**
 * Returns the objects of an earlier installation that are no longer wanted. Volumes are kept, because they contain data
 * of users.
 */
export function unwantedObjects(one: Installation): readonly KubeObject[] {
  const wanted = new Set(platformObjects(one).map(nameOf))
  return platformObjects({ ...one, ...EVERYTHING }).filter(object => !wanted.has(nameOf(object)))
}

/** Options with which `platformObjects` returns every optional object, too. Their values are placeholders. */
export const EVERYTHING = {
  certManager: '',
  bundledRegistry: { image: '', size: '1Gi' },
  bundledBuilders: { image: '', size: '1Gi', count: 1, untrusted: 1, networks: [] },
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`

/**
 * Returns one of the platform's own namespaces. They are not managed: users have no permissions in them, and no policy
 * admits traffic from other namespaces.
 */
const namespace = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    labels: { 'app.kubernetes.io/part-of': 'devctl', 'pod-security.kubernetes.io/enforce': 'restricted' },
  },
})

const own = (name: string) => ({ name, namespace: PLATFORM_NAMESPACE, labels: LABELS })

const account = (): KubeObject => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: own(SERVER_ACCOUNT) })

const KEEP = ['get', 'list', 'watch', 'create', 'update', 'patch']
const WRITE = [...KEEP, 'delete']

/** Returns the roles of the server's own account. For actions of a person, the server uses that person's token. */
const rights = (): readonly KubeObject[] => [
  ...granted(undefined, [
    { apiGroups: [''], resources: ['namespaces'], verbs: WRITE },
    // No permission to delete: these objects are deleted only with their namespace, because the workloads would be
    // unlimited without them.
    { apiGroups: [''], resources: ['resourcequotas', 'limitranges'], verbs: KEEP },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: KEEP },
    { apiGroups: [RBAC], resources: ['rolebindings'], verbs: WRITE },
    {
      apiGroups: [RBAC],
      resources: ['clusterroles'],
      verbs: ['bind'],
      resourceNames: ['devctl-developer', 'devctl-viewer', KEEPER],
    },
  ]),
  ...granted(USERS_NAMESPACE, [
    { apiGroups: [''], resources: ['serviceaccounts', 'secrets'], verbs: WRITE },
    { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  ]),
  ...granted(RUNS_NAMESPACE, [
    { apiGroups: ['batch'], resources: ['jobs'], verbs: WRITE },
    { apiGroups: [''], resources: ['serviceaccounts', 'secrets'], verbs: WRITE },
    { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  ]),
  // The Lease of the leader.
  ...granted(PLATFORM_NAMESPACE, [
    // The log of the container that measures the registry's disk.
    { apiGroups: [''], resources: ['pods/log'], resourceNames: [REGISTRY_DISK.pod], verbs: ['get'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update', 'delete'] },
    seen('server'),
    seen('registry'),
  ]),
]

/**
 * Returns a rule that lets the server read one of the platform's own workloads for its overview. These workloads
 * contain no secrets.
 */
const seen = (workload: keyof typeof OWN_WORKLOADS) => {
  const { kind, name } = OWN_WORKLOADS[workload]
  return { apiGroups: ['apps'], resources: [`${kind.toLowerCase()}s`], resourceNames: [name], verbs: ['get'] }
}

/** Returns a role of the server's account, in a namespace or in the whole cluster, with its binding. */
function granted(namespace: string | undefined, rules: readonly object[]): readonly KubeObject[] {
  const scope = namespace === undefined ? 'Cluster' : ''
  const [apiVersion, name] = [`${RBAC}/v1`, `devctl-${NAME}`]
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels: LABELS }
  return [
    { apiVersion, kind: `${scope}Role`, metadata, rules },
    {
      apiVersion,
      kind: `${scope}RoleBinding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind: `${scope}Role`, name },
      subjects: [{ kind: 'ServiceAccount', name: SERVER_ACCOUNT, namespace: PLATFORM_NAMESPACE }],
    },
  ]
}

/**
 * Returns the network policy for runs, which execute code of repositories. Nothing can reach them. They can reach DNS,
 * the platform, the API server, and addresses outside the cluster.
 */
const runsNetworkPolicy = ({ apiServer = [], ...networks }: Installation): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'devctl-runs', namespace: RUNS_NAMESPACE, labels: LABELS },
  spec: {
    podSelector: {},
    // Has no `ingress` field: the API server does not store an empty list, so each apply would be a change.
    policyTypes: ['Ingress', 'Egress'],
    egress: [
      toDns,
      {
        to: [{ namespaceSelector: namespaceNamed(PLATFORM_NAMESPACE), podSelector: { matchLabels: SELECTOR } }],
        ports: [{ protocol: 'TCP', port: RUNS_PORT }],
      },
      // Some network plugins check the address of the Service before it is translated.
      ...apiServer.map(({ cidr, port }) => ({ to: [{ ipBlock: { cidr } }], ports: [{ protocol: 'TCP', port }] })),
      toOutside(networks),
    ],
  },
})

/**
 * Returns the ConfigMap with the certificate authorities that runs trust. Without authorities, the object has no
 * `data`: operators also write their git configuration into this ConfigMap, and the platform must not remove it.
 */
const runsAuthorities = ({ trusted }: Installation): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'ca', namespace: RUNS_NAMESPACE, labels: LABELS },
  ...(trusted !== undefined && { data: { 'ca.crt': trusted } }),
})

/**
 * Network policy of the server. It admits connections from everywhere, because the addresses of ingress controllers are
 * unknown, and some controllers have the addresses of nodes.
 */
const serverNetworkPolicy: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: own(NAME),
  spec: {
    podSelector: { matchLabels: SELECTOR },
    policyTypes: ['Ingress'],
    ingress: [
      { ports: [{ protocol: 'TCP', port: PORT }] },
      {
        from: [{ namespaceSelector: namespaceNamed(RUNS_NAMESPACE) }],
        ports: [{ protocol: 'TCP', port: RUNS_PORT }],
      },
    ],
  },
}

const settings = (one: Installation): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: own('settings'),
  data: {
    [SETTINGS_FILE]: `${JSON.stringify(settingsOf(one), undefined, 2)}\n`,
    ...(one.trusted !== undefined && { [TRUSTED_FILE]: one.trusted }),
  },
})

/** Returns the configuration of the server. */
const settingsOf = (one: Installation) => ({
  ...one.kept,
  domain: one.domain,
  url: urlOf(one),
  kubernetes: one.kubernetes,
  clusterNetworks: one.clusterNetworks,
  ...(one.privateNetworks?.length && { privateNetworks: one.privateNetworks }),
  ...(one.areNetworksNamed && { clusterNetworksNamed: true }),
  providers: one.providers ?? [],
  ...(one.registry !== undefined && { registry: one.registry }),
  ...(one.hasRegistryTokens && { registryTokens: true }),
  ...(one.trustedProxies && { trustedProxies: one.trustedProxies }),
  ...(one.bundledBuilders && {
    bundledBuilders: without(one.bundledBuilders, ['image']),
    builders: { ...(one.kept?.['builders'] as object | undefined), ...builderSettings(one.bundledBuilders) },
  }),
  ...(one.bundledRegistry && { bundledRegistry: { size: one.bundledRegistry.size } }),
  runs: {
    ...(one.kept?.['runs'] as object | undefined),
    image: one.runnerImage,
    url: RUNS_ADDRESS,
    ...(one.trusted !== undefined && { authorities: true }),
  },
})

/**
 * Keys of the settings that every installation writes again. `DECIDED_OF_RUNS` contains such keys within the setting
 * `runs`.
 */
const DECIDED = [
  'domain',
  'url',
  'kubernetes',
  'clusterNetworks',
  'clusterNetworksNamed',
  'privateNetworks',
  'providers',
]
const DECIDED_OF_RUNS = ['image', 'url', 'authorities']

/** Returns the settings that an installation does not write itself. An upgrade keeps them. */
export function undecided(settings: object): Readonly<Record<string, unknown>> {
  const { runs, ...others } = without(settings, DECIDED)
  const own = typeof runs === 'object' && runs !== null ? without(runs, DECIDED_OF_RUNS) : {}
  return { ...others, ...(Object.keys(own).length > 0 && { runs: own }) }
}

const without = (found: object, keys: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(found).filter(([key]) => !keys.includes(key)))

const POOLS = Object.values(BUILDER_POOLS)

function deployment(one: Installation): KubeObject {
  const { image, replicas, version, trusted } = one
  const container = {
    name: NAME,
    image,
    env: [
      { name: 'DEVCTL_VERSION', value: version },
      {
        name: 'DEVCTL_SETTINGS_HASH',
        valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${SETTINGS_HASH}']` } },
      },
      { name: 'PORT', value: String(PORT) },
      { name: 'RUNS_PORT', value: String(RUNS_PORT) },
      ...(trusted === undefined ? [] : [{ name: 'NODE_EXTRA_CA_CERTS', value: `/etc/devctl/${TRUSTED_FILE}` }]),
    ],
    ports: [
      { name: 'http', containerPort: PORT },
      { name: 'runs', containerPort: RUNS_PORT },
    ],
    readinessProbe: { httpGet: { path: '/api/v1/info', port: 'http' }, periodSeconds: 2 },
    // Waits until the ingress controller knows that the Pod is terminating, because it still sends requests until then.
    lifecycle: { preStop: { exec: { command: ['sleep', '3'] } } },
    resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'settings', mountPath: '/etc/devctl', readOnly: true },
      { name: 'keys', mountPath: '/etc/devctl-keys', readOnly: true },
      { name: 'login', mountPath: '/etc/devctl-login', readOnly: true },
      { name: 'registry', mountPath: '/etc/devctl-registry', readOnly: true },
      ...POOLS.map(one => ({ name: one.secret, mountPath: certificatesFolder(one), readOnly: true })),
    ],
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: own(NAME),
    spec: {
      replicas,
      selector: { matchLabels: SELECTOR },
      template: {
        metadata: { labels: LABELS, annotations: { [SETTINGS_HASH]: settingsHash(one) } },
        spec: {
          serviceAccountName: SERVER_ACCOUNT,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [container],
          volumes: [
            { name: 'settings', configMap: { name: 'settings' } },
            // Created once, by the installing user. This Secret is in no list of objects, so it is never replaced.
            { name: 'keys', secret: { secretName: KEYS_SECRET } },
            { name: 'login', secret: { secretName: LOGIN_SECRET, optional: true } },
            { name: 'registry', secret: { secretName: REGISTRY_SECRET, optional: true } },
            ...POOLS.map(({ secret }) => ({ name: secret, secret: { secretName: secret, optional: true } })),
          ],
        },
      },
    },
  }
}

/** Returns a hash of the settings. Pods read the settings at startup, so changed settings have to restart them. */
export const settingsHash = (one: Installation): string =>
  createHash('sha256')
    .update(JSON.stringify(settings(one)['data']))
    .digest('hex')
    .slice(0, 16)

const service = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: own(NAME),
  spec: {
    selector: SELECTOR,
    ports: [
      { name: 'http', port: 80, targetPort: 'http' },
      { name: 'runs', port: RUNS_PORT, targetPort: 'runs' },
    ],
  },
})

const ingress = (one: Installation): KubeObject => ingressTo(one, `platform.${one.domain}`, NAME, own(NAME))

/**
 * Returns the Ingress for all other hosts: requests without a route, and requests for sleeping applications. It has the
 * lowest priority in Traefik, which would otherwise prefer the wildcard to an exact host; other controllers try the
 * exact host first.
 */
const wakerIngress = (one: Installation): KubeObject =>
  ingressTo(one, `*.${one.domain}`, NAME, {
    ...own('waker'),
    annotations: { 'traefik.ingress.kubernetes.io/router.priority': '1' },
  })
